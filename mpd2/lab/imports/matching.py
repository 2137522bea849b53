"""What each column of somebody's table is, proposed by its name and by what it holds, each with its reason in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mpd2.core.errors import UserError
from mpd2.core.manifest import MOST_COHORTS
from mpd2.core.text import listed
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.guessing import MOST_NAMED, guess_cases, guess_readings
from mpd2.lab.imports.profiles import Profile
from mpd2.lab.imports.uses import AI_FORMS, INPUTS, OF_READINGS, ONCE, USES, File, Proposal, Use
from mpd2.lab.imports.words import says

__all__ = ["INPUTS", "USES", "Proposal", "Use", "changed", "lacking", "propose"]

OLDEST = 120.0


def propose(cases: RawTable, readings: RawTable | None = None) -> tuple[Proposal, ...]:
    """One proposal for each column of one file or two, in their order."""
    profiles, seconds = _profiles(cases), _profiles(readings) if readings else {}
    further, ids = guess_readings(profiles, seconds)
    guesses = guess_cases(profiles, ids)
    return (
        *(_proposal(profile, "cases", *guesses[name]) for name, profile in profiles.items()),
        *(_proposal(profile, "readings", *further[name]) for name, profile in seconds.items()),
    )


def changed(proposals: Sequence[Proposal], uses: Mapping[str, Use | str], file: File = "cases") -> tuple[Proposal, ...]:
    """The proposals with some columns of a file used as a person says, by column."""
    known = {each.column for each in proposals if each.file == file}
    unknown = sorted(set(uses) - known)
    if unknown:
        raise UserError(f"columns: found {listed(unknown)}, expected some of {', '.join(sorted(known))}")
    wanted = {column: _checked(column, str(use), file) for column, use in uses.items()}
    return tuple(
        replace(each, use=wanted[each.column], reason="chosen by hand")
        if each.file == file and each.column in wanted and wanted[each.column] != each.use
        else each
        for each in proposals
    )


def _checked(column: str, use: str, file: File) -> Use:
    if use not in USES[file]:
        raise UserError(f"column {column}: found {use!r}, expected one of {', '.join(USES[file])}")
    return Use(use)


def lacking(proposals: Sequence[Proposal]) -> tuple[str, ...]:
    """What must still be said before the table can be used, in sentences."""
    there = [each.use for each in proposals]
    wants = []
    if Use.TRUTH not in there:
        wants.append("No column is the truth: say which one holds what each case really was.")
    forms = [form for form in AI_FORMS if set(form) & set(there)]
    if not forms:
        wants.append("No column is the AI's answer: say which one holds its probability or its scores.")
    elif len(forms) > 1 or not set(forms[0]) <= set(there):
        wants.append("The AI's answer is one probability, one column of log-odds, or two scores: choose one of these.")
    second = any(each.file == "readings" for each in proposals)
    if Use.READER not in there and not second:
        wants.append("No column is a reader: say which ones hold the decisions of people.")
    if second:
        wants += [f"No column of the second file is the {use}." for use in OF_READINGS if use not in there]
    for use in (*ONCE, *(use for form in AI_FORMS for use in form), *OF_READINGS):
        twice = [each.column for each in proposals if each.use == use]
        if len(twice) > 1:
            wants.append(f"Only one column can be “{use}”: choose among {listed(twice)}.")
    return tuple(wants)


def _profiles(table: RawTable) -> dict[str, Profile]:
    return {str(name): Profile(str(name), table.column(str(name))) for name in table.cells}


def _proposal(profile: Profile, file: File, use: Use, reason: str) -> Proposal:
    """All that the cells say of a column, whatever it is used for, so that its use can be changed alone."""
    low, high = (0.0, 1.0) if profile.is_share else (None, None)
    unit = ""
    if profile.is_number and says(profile.name, "person") in AGES and profile.ends[1] <= OLDEST:
        low, high, unit = 0.0, OLDEST, "years"
    return Proposal(
        column=profile.name,
        file=file,
        use=use,
        reason=reason,
        first_values=profile.first_values,
        missing=not profile.complete or (profile.is_bit and bool(profile.unsure)),
        low=low,
        high=high,
        unit=unit,
        codes=profile.codes,
        answers=profile.bit_words,
        readers=tuple(profile.words) if file == "readings" and profile.distinct <= MOST_NAMED else (),
        cohorts=tuple(profile.words) if file == "cases" and profile.distinct <= MOST_COHORTS else (),
    )


AGES = ("age", "alter", "edad", "eta", "idade")
