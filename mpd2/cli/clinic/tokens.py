"""`clinic token`: a new token for a program that uses the HTTP interface."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def add(command: ArgumentParser) -> None:
    """The arguments of `clinic token`."""
    from mpd2.clinic.access.actions import Role

    command.add_argument("name", help="what the program is called in the record, such as intake")
    command.add_argument("--role", required=True, choices=[str(role) for role in Role], help="what it may do")


def run(args: Namespace) -> int:
    """Print a token, which is kept nowhere, and the lines that let it in."""
    from pydantic import ValidationError

    from mpd2.clinic.access.actions import Role
    from mpd2.clinic.access.tokens import hash_of, new_token, settings_lines
    from mpd2.clinic.settings import SETTINGS, Token
    from mpd2.core.errors import UserError, invalid_entries

    token = new_token()
    try:
        entry = Token(name=args.name, sha256=hash_of(token), role=Role(args.role))
    except ValidationError as error:
        raise UserError(f"token {args.name!r}: {invalid_entries(error)}") from error
    print(f"The token, shown this once; give it to {entry.name} and to nobody else:\n\n{token}\n")
    print(f"The lines for the settings, the file that {SETTINGS} names; they hold from the next request on:\n")
    print(settings_lines(entry.name, entry.role, token), end="")
    return 0
