"""What imaging needs besides the rest of the product, and what to do where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from mpd2.core.errors import UserError

HOW = "Whoever looks after this installation can install it: pip install -r requirements-imaging.txt"


def is_here(package: str) -> bool:
    """Whether a package is installed; it is not imported."""
    return find_spec(package) is not None


def need(package: str, what: str) -> None:
    """Refuse what cannot be done without a package, and say how to get it."""
    if not is_here(package):
        raise UserError(f"{what} needs the package {package}, which is not installed here. {HOW}")
