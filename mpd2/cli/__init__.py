"""The command line. Only a command that is called is imported, so that help does not wait for torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from mpd2.cli.arguments import parser
from mpd2.core.errors import UserError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if all went well, 1 for the user's mistake and 130 if interrupted."""
    args = parser().parse_args(argv)
    try:
        code: int = import_module(f"mpd2.cli.{args.command}").run(args)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough, as in `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
