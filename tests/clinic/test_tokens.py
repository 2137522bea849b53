"""Tokens of programs: shown once, known by their hash, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.cli import main
from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.tokens import MARK, hash_of, holder_of, new_token, settings_lines
from mpd2.clinic.settings import Token, read_settings
from mpd2.core.errors import UserError

KNOWN = [
    Token(name=f"the {role}", sha256=hash_of(token), role=role)
    for role, token in zip(Role, (new_token() for _ in Role), strict=True)
]


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    return tmp_path / "settings.toml"


def test_no_two_tokens_are_alike_and_each_is_long_and_marked() -> None:
    made = {new_token() for _ in range(1000)}
    assert len(made) == 1000
    assert all(each.startswith(MARK) and len(each) >= 40 for each in made)


@pytest.mark.parametrize("role", Role)
def test_a_token_is_its_holders_and_theirs_alone(role: Role) -> None:
    token = new_token()
    holder = holder_of(token, [*KNOWN, Token(name="intake", sha256=hash_of(token), role=role)])
    assert holder is not None
    assert (holder.id, holder.name, holder.role) == ("token:intake", "intake", role)


@given(st.text(max_size=200))
def test_no_other_text_is_a_token(text: str) -> None:
    assert holder_of(text, KNOWN) is None
    assert holder_of(KNOWN[0].sha256, KNOWN) is None


def test_the_command_prints_a_token_and_lines_that_let_it_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clinic", "token", "eye intake", "--role", "clinician"]) == 0
    said = capsys.readouterr().out
    token = next(line for line in said.splitlines() if line.startswith(MARK))
    lines = said[said.index("[[clinic.tokens]]") :]
    assert token not in lines
    settings = read_settings(written(tmp_path, lines))
    holder = holder_of(token, settings.clinic.tokens)
    assert holder is not None
    assert (holder.name, holder.role) == ("eye intake", Role.CLINICIAN)


@pytest.mark.parametrize("name", ["", '"', 'a"\nrole = "admin', " x", "x" * 81, "a\\b", "[x]"])
def test_a_name_that_could_not_stand_in_the_settings_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clinic", "token", name, "--role", "reader"]) == 1
    said = capsys.readouterr()
    assert MARK not in said.out
    assert "name" in said.err


@pytest.mark.parametrize(
    "change",
    [("sha256", "0" * 63), ("sha256", "G" * 64), ("sha256", "A" * 64), ("role", "owner"), ("name", ""), ("x", "1")],
)
def test_an_entry_that_is_no_hash_or_no_role_is_an_error_and_not_left_out(
    change: tuple[str, str], tmp_path: Path
) -> None:
    entry = {"name": "intake", "sha256": "0" * 64, "role": "admin"} | dict([change])
    text = "[[clinic.tokens]]\n" + "".join(f'{key} = "{value}"\n' for key, value in entry.items())
    with pytest.raises(UserError, match=r"clinic\.tokens"):
        read_settings(written(tmp_path, text))


@pytest.mark.parametrize(("second", "what"), [(("intake", new_token()), "name"), (("other", "same"), "sha256")])
def test_two_entries_of_one_name_or_one_hash_are_an_error(second: tuple[str, str], what: str, tmp_path: Path) -> None:
    text = settings_lines("intake", Role.READER, "same") + settings_lines(second[0], Role.ADMIN, second[1])
    with pytest.raises(UserError, match=f"{what} given twice"):
        read_settings(written(tmp_path, text))
