"""What the server's log says of an error: its kind, and where in the code it arose.

Never what it says: an error of a library often quotes the cell that it stumbled over, and visitors are promised that
nothing of their tables is in any log.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from types import TracebackType
from typing import Any, TextIO

THREAD = "thread"  # of which nobody says the name


def install() -> None:
    """Let every log of this process be discreet from now on."""
    make = logging.getLogRecordFactory()

    def discreet(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.exc_info and record.exc_info[1] is not None:
            record.exc_text = told(record.exc_info[1])
        record.exc_info = None
        if isinstance(record.args, tuple):
            record.args = tuple(
                type(each).__name__ if isinstance(each, BaseException) else each for each in record.args
            )
        if isinstance(record.msg, BaseException):
            record.msg = type(record.msg).__name__
        return record

    logging.setLogRecordFactory(discreet)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable
    warnings.showwarning = _warned


def told(error: BaseException) -> str:
    """The kind of an error and the lines of code it came through, and the same of those that led to it."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    earlier = [told(before), "then"] if before is not None else []
    lines = "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    return "\n".join([*earlier, *([lines] if lines else []), type(error).__name__])


def _uncaught(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    print(told(error), file=sys.stderr)


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        name = args.thread.name if args.thread else THREAD
        print(f"{name}: {told(args.exc_value)}", file=sys.stderr)


def _unraisable(args: Any) -> None:
    if args.exc_value is not None:
        print(told(args.exc_value), file=sys.stderr)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"{filename}:{lineno}: {category.__name__}", file=file or sys.stderr)
