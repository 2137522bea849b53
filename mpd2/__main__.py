"""`python -m mpd2`."""

import sys

from mpd2.cli import main

if __name__ == "__main__":
    sys.exit(main())
