"""The rules by which columns are recognised: a name tells, what stands in the cells decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.manifest import MOST, MOST_COHORTS
from mpd2.core.text import count, percent
from mpd2.lab.imports.names import ai_words, claims, other_name, side, sideless, stem
from mpd2.lab.imports.profiles import Profile, auc, likeness
from mpd2.lab.imports.uses import Use
from mpd2.lab.imports.words import NAMES, name_words, plain, says

Guess = tuple[Use, str]  # what a column is, and why
ALIKE = 0.3  # correlation with the truth from which on answers look like somebody's reading
TELLING = 0.7  # AUC from which on a number without a name can be the AI's
NEARLY = 0.98  # share of rows with an answer from which on a column can be the truth with some cells forgotten
MOST_NAMED = 200  # different values of a column of readers; more than can be are told of later
FEW = 20  # values of a column of words that can be a cohort without its name saying so
TRUTHS = {word: rank for rank, word in enumerate(map(plain, NAMES["truth"]))}


def guess_readings(cases: Mapping[str, Profile], readings: Mapping[str, Profile]) -> tuple[dict[str, Guess], str]:
    """What the columns of a second file are, and which column of the first holds the same case ids ("" for none)."""
    if not readings:
        return {}, ""
    found: dict[str, Guess] = {}
    shared = {(ours, theirs): overlap(cases[ours], readings[theirs]) for ours in cases for theirs in readings}
    (ids, case), share = max(shared.items(), key=lambda each: (each[1], bool(says(each[0][1], "case"))))
    if share >= 0.5:
        found[case] = (Use.READING_CASE, f"{percent(share, 0)} of its values are in the column {ids} of the cases")
    else:
        ids = ""
    rest = [profile for name, profile in readings.items() if name not in found]
    answers = [profile for profile in rest if profile.is_bit or profile.bit_words]
    answers = [each for each in answers if not (says(each.name, "reader") and each.bit_words)]  # two readers' names
    answer = max(answers, key=lambda each: (bool(says(each.name, "says")), each.is_bit, each.filled), default=None)
    if answer:
        found[answer.name] = (Use.READING_SAYS, _only(answer))
    people = [each for each in rest if each is not answer and each.distinct <= MOST_NAMED and not each.is_date]
    people.sort(key=lambda each: (bool(says(each.name, "reader")), not each.is_number, each.distinct))
    if people:
        found[people[-1].name] = (Use.READING_READER, f"{people[-1].distinct} values, {people[-1].repeats()}")
    left: Guess = (Use.IGNORED, "not needed of a reading")
    return {name: found.get(name, left) for name in readings}, ids


def overlap(ours: Profile, theirs: Profile) -> float:
    """The share of one column's different values that another has; 0 where the other repeats its own."""
    if ours.distinct < 0.9 * ours.filled or not theirs.distinct or theirs.distinct > theirs.filled:
        return 0.0
    return len(set(theirs.words) & set(ours.words)) / theirs.distinct


def guess_cases(profiles: Mapping[str, Profile], ids: str = "") -> dict[str, Guess]:
    """What each column of the cases is; `ids` is the one that a second file knows the cases by, if there is one."""
    guesser = _Guesser(profiles)
    if ids:
        guesser.found[ids] = (Use.CASE, "the second file names the cases by it")
    for step in guesser.steps:
        step()
    return {name: guesser.found[name] for name in profiles}


class _Guesser:
    """Goes through the kinds of columns, the surest first; what one step has found the next leaves alone."""

    def __init__(self, profiles: Mapping[str, Profile]) -> None:
        self.all = profiles
        self.found: dict[str, Guess] = {}
        self.truth: Ints | None = None
        self.meaning: dict[str, int] = {}  # 0 or 1 for each word of the truth, where these are not yes and no
        self.steps: list[Callable[[], None]] = [
            self._useless,
            self._split,
            self._truth,
            self._scores,
            self._probability,
            self._case,
            self._readers,
            self._date,
            self._group,
            self._cohort,
            self._inputs,
        ]

    @property
    def open(self) -> list[Profile]:
        """The columns nothing is known of yet."""
        return [profile for name, profile in self.all.items() if name not in self.found]

    def _has(self, use: Use) -> bool:
        return any(guess[0] == use for guess in self.found.values())

    def _useless(self) -> None:
        for profile in self.open:
            if profile.filled == 0:
                self.found[profile.name] = (Use.IGNORED, "empty")
            elif says(profile.name, "identifying") and not profile.is_bit:
                self.found[profile.name] = (Use.IGNORED, "its name says that it may identify a person")
            elif profile.name.endswith("_available") and profile.name.removesuffix("_available") in self.all:
                self.found[profile.name] = (Use.IGNORED, "whether a reader was there follows from the readings")

    def _split(self) -> None:
        parts = [profile for profile in self.open if profile.is_split]
        best = max(parts, key=lambda each: bool(says(each.name, "split")), default=None)
        if best:
            self.found[best.name] = (Use.SPLIT, f"holds {', '.join(best.words[:3])}")

    def _truth(self) -> None:
        """By name; or the only complete column of answers that no name gives to a reader."""
        answers = [profile for profile in self.open if profile.is_bit or profile.bit_words]
        named = [each for each in answers if says(each.name, "truth") and not self._somebodys(each)]
        best = min(named, key=lambda each: (TRUTHS[says(each.name, "truth")], not each.complete), default=None)
        reason = "name"
        if best is None:
            nameless = [each for each in answers if each.is_bit and len(each.answers) == 2]
            nameless = [each for each in nameless if not self._somebodys(each)]
            nameless = [each for each in nameless if not says(each.name, "person") and not self._numbered(each)]
            whole = [each for each in nameless if each.complete and not each.unsure]
            nearly = [each for each in nameless if each.filled >= NEARLY * len(each.column)]
            nameless, complete = (whole, "complete") if whole else (nearly, "nearly complete")
            best = nameless[0] if len(nameless) == 1 else self._foretold(nameless)
            reason = f"the only {complete} column of yes and no without a reader's name"
            if len(nameless) > 1:
                reason = f"the {complete} column of yes and no that the AI's number tells apart"
        if best is not None:
            self.meaning = best.bit_words
            self.truth = best.bits(best.bit_words)
            share = float((self.truth == 1).sum() / max((self.truth >= 0).sum(), 1))
            ones = next((word for word in best.answers if best.meaning(word) == 1), "1")
            self.found[best.name] = (Use.TRUTH, f"{reason}; {percent(share, 1)} are {ones}")

    def _foretold(self, answers: list[Profile]) -> Profile | None:
        """The one of several columns of answers that a number named as the AI's tells apart, if there is just one."""
        scores = [each for each in self.open if each.is_number and not each.is_bit and claims(each.name) >= 2]
        areas = [max((auc(each.numbers.values, answer.bits()) for each in scores), default=0.0) for answer in answers]
        telling = [answer for answer, area in zip(answers, areas, strict=True) if area >= TELLING]
        return telling[0] if len(telling) == 1 else None

    def _somebodys(self, profile: Profile) -> bool:
        return bool(says(profile.name, "reader") or says(profile.name, "ai") or says(profile.name, "probability"))

    def _numbered(self, profile: Profile) -> list[Profile]:
        """The other columns of answers with the same name but for a number or one letter at its end."""
        same = [each for each in self.all.values() if stem(each.name) == stem(profile.name) and each is not profile]
        return [each for each in same if self._holds_answers(each)]

    def _holds_answers(self, profile: Profile) -> bool:
        return profile.is_bit or (bool(self.meaning) and set(profile.answers) <= set(self.meaning))

    def _auc(self, profile: Profile) -> float:
        return auc(profile.numbers.values, self.truth) if self.truth is not None and profile.is_number else np.nan

    def _scores(self) -> None:
        """Two scores whose names differ only in whose they are, or one column of log-odds."""
        logits = [each for each in self.open if each.is_number and not each.is_bit and says(each.name, "logit")]
        negative = [each for each in logits if side(each.name) == 0]
        positive = [each for each in logits if side(each.name) == 1]
        pairs = [(no, yes) for no in negative for yes in positive if sideless(no.name) == sideless(yes.name)]
        if pairs:
            no, yes = pairs[0]
            self.found[no.name] = (Use.LOGIT_NEGATIVE, "its name says score of the negative")
            self.found[yes.name] = (Use.LOGIT_POSITIVE, "its name says score of the positive")
        elif logits:
            self.found[logits[-1].name] = (Use.LOGIT, "its name says log-odds")
        else:
            self._unbounded_score()

    def _unbounded_score(self) -> None:
        """The AI's one number on both sides of 0 that is higher where the truth is 1."""
        signed = [each for each in self.open if each.is_number and each.ends[0] < 0 < each.ends[1]]
        signed = [each for each in signed if says(each.name, "ai") and not says(each.name, "distance")]
        telling = [each for each in signed if self._auc(each) >= TELLING]
        if len(telling) == 1:
            best = telling[0]
            reason = f"below and above 0; its name says {says(best.name, 'ai')}"
            self.found[best.name] = (
                Use.LOGIT,
                f"{reason}, and higher where the truth is 1 (AUC {self._auc(best):.2f})",
            )

    def _probability(self) -> None:
        """The number from 0 to 1 whose name says most clearly that it is the AI's probability."""
        shares = [each for each in self.open if each.is_number and each.ends[0] >= 0]
        shares = [each for each in shares if not each.is_whole or each.ends[1] > 1]  # whole numbers only as per cent
        shares = [each for each in shares if each.is_share or (each.ends[1] <= 100 and self._like_per_cent(each))]
        ranked = sorted(shares, key=lambda each: (claims(each.name), side(each.name) == 1), reverse=True)
        claiming = [each for each in ranked if claims(each.name) >= 2]
        given = [name for name, guess in self.found.items() if guess[0] in SCORES]
        for each in claiming if given else ():
            if self._repeats_scores(each, given):
                self.found[each.name] = (Use.IGNORED, "says the same as the AI's scores")
        if given:
            return
        if claiming:
            best = claiming[0]
            words = ai_words(best.name)
            between = "between 0 and 1" if best.is_share else "between 0 and 100, read as per cent"
            self.found[best.name] = (Use.PROBABILITY, f"{between}; its name says {words}")
            for other in ranked[1:]:
                if np.nanmax(np.abs(other.numbers.values + best.numbers.values - 1)) < 0.01:
                    self.found[other.name] = (Use.IGNORED, f"1 less {best.name}")
            return
        telling = [(self._auc(each), each) for each in shares if not other_name(each.name)]
        telling = [(area, each) for area, each in telling if area >= TELLING]
        if len(telling) == 1:
            area, best = telling[0]
            self.found[best.name] = (
                Use.PROBABILITY,
                f"between 0 and 1, and higher where the truth is 1 (AUC {area:.2f})",
            )
            return
        decided = [
            each for each in self.open if each.is_bit and says(each.name, "ai") and not says(each.name, "reader")
        ]
        if len(decided) == 1:
            self.found[decided[0].name] = (Use.PROBABILITY, "the AI's yes or no; its probability would tell more")

    def _like_per_cent(self, profile: Profile) -> bool:
        """Whether numbers up to 100 can be the AI's: both words of the name say so, or one and the truth."""
        return claims(profile.name) >= 3 or (claims(profile.name) >= 2 and self._auc(profile) >= TELLING)

    def _repeats_scores(self, profile: Profile, given: list[str]) -> bool:
        by_use = {self.found[name][0]: self.all[name].numbers.values for name in given}
        odds = by_use[Use.LOGIT] if Use.LOGIT in by_use else by_use[Use.LOGIT_POSITIVE] - by_use[Use.LOGIT_NEGATIVE]
        apart = np.abs(expit(odds) - profile.numbers.values)
        return bool(np.nanmin(apart) < 0.01 and (np.nanmax(apart) < 0.01 or np.nanmax(np.abs(apart - 1)) < 0.01))

    def _case(self) -> None:
        """Ids that are all different, or nearly so where the name says that they are ids."""
        if self._has(Use.CASE):
            return
        ids = [
            each for each in self.open if not each.is_date and (not each.is_number or each.is_whole) and not each.is_bit
        ]
        named = [each for each in ids if says(each.name, "case") and each.distinct >= 0.98 * len(each.column)]
        others = [each for each in ids if each.distinct == each.filled == len(each.column) and not each.is_number]
        order = list(self.all)
        exact = [each for each in named if "id" in name_words(each.name) or "case" in name_words(each.name)]
        best = next(iter(exact or named or others), None)
        if best:
            twice = best.filled - best.distinct
            tail = "different in every row" if not twice else f"but {count(twice)} of its values come again"
            name = "name; " if best in named else "first column that is " if order[0] == best.name else ""
            self.found[best.name] = (Use.CASE, f"{name}{tail}")

    def _readers(self) -> None:
        """Columns of yes and no: by name, by being numbered, or by saying mostly what the truth says."""
        for each in self.open:
            if not self._holds_answers(each):
                if says(each.name, "reader") and each.distinct <= FEW and not other_name(each.name):
                    held = f"it holds {each.distinct} values, not yes and no"
                    self.found[each.name] = (Use.IGNORED, f"its name says {says(each.name, 'reader')}, but {held}")
                continue
            only = _only(each)
            named = says(each.name, "reader")
            if named:
                self.found[each.name] = (Use.READER, f"{only}; its name says {named}")
            elif says(each.name, "ai") and any(map(self._has, (Use.PROBABILITY, *SCORES))):
                self.found[each.name] = (Use.IGNORED, f"{only}; the AI's number says more than its decision")
            elif each.distinct == 1:
                self.found[each.name] = (Use.IGNORED, f"the same in every row: {each.words[0]}")
            elif says(each.name, "person"):
                self.found[each.name] = (Use.OTHER, f"{only}; its name says {says(each.name, 'person')}")
            else:
                self.found[each.name] = self._nameless_answers(each, only)

    def _nameless_answers(self, profile: Profile, only: str) -> Guess:
        if self.truth is None:
            return Use.READER, only
        if self._repeats_truth(profile):
            return Use.IGNORED, f"{only}, and the same as the truth in every row"
        if likeness(profile.bits(self.meaning), self.truth) >= ALIKE:
            return Use.READER, f"{only}, mostly as the truth"
        others = [likeness(each.bits(self.meaning), self.truth) for each in self._numbered(profile)]
        if others and np.median(others) >= ALIKE:
            return Use.READER, f"{only}; numbered like others that say mostly what the truth says"
        return Use.OTHER, f"{only}, but not as the truth"

    def _repeats_truth(self, profile: Profile) -> bool:
        """Whether a column says of every case what the truth says, which no reader does."""
        bits = profile.bits(self.meaning)
        both = (bits != UNKNOWN) & (self.truth != UNKNOWN)
        return bool(both.mean() >= NEARLY and (bits == self.truth)[both].all())

    def _date(self) -> None:
        days = [each for each in self.open if each.is_date]
        best = max(days, key=lambda each: bool(says(each.name, "date")), default=None)
        for each in days:
            chosen = each is best
            self.found[each.name] = (Use.DATE, "holds days") if chosen else (Use.IGNORED, "a second date")

    def _group(self) -> None:
        """Ids that come again: by name, or words with numbers in them."""
        again = [each for each in self.open if 1 < each.distinct < each.filled and not each.is_share]
        again = [each for each in again if not each.is_number or each.is_whole]
        named = [each for each in again if says(each.name, "group") and each.distinct > 2]
        named = [each for each in named if not says(each.name, "person")]  # a patient's age is not the patient
        coded = [each for each in again if not each.is_number and _like_ids(each)]
        best = next(iter(named or coded), None)
        if best:
            said = f"its name says {says(best.name, 'group')}; " if best in named else ""
            self.found[best.name] = (Use.GROUP, f"{said}{best.repeats()}")

    def _cohort(self) -> None:
        """Few words, each in many rows."""
        few = [each for each in self.open if 2 <= each.distinct <= MOST_COHORTS and each.filled >= 5 * each.distinct]
        few = [each for each in few if not (each.is_number and not each.is_whole)]
        named = [each for each in few if says(each.name, "cohort") and not says(each.name, "body")]
        words = [each for each in few if not each.is_number and 3 <= each.distinct <= FEW and not each.codes]
        words = [each for each in words if not says(each.name, "person")]
        rank = {plain(word): place for place, word in enumerate(NAMES["cohort"])}
        best = min(named, key=lambda each: rank[says(each.name, "cohort")], default=next(iter(words), None))
        if best:
            said = "name; " if best in named else ""
            self.found[best.name] = (Use.COHORT, f"{said}{count(best.distinct)} values")

    def _inputs(self) -> None:
        """All that is left: numbers, and words that can be numbered."""
        for each in self.open:
            if each.distinct == 1 and each.complete:
                self.found[each.name] = (Use.IGNORED, f"the same in every row: {each.first_values[0]}")
            elif each.is_number:
                self.found[each.name] = self._number(each)
            elif each.codes:
                self.found[each.name] = (Use.OTHER, f"{count(each.distinct)} words: {', '.join(list(each.codes)[:3])}")
            else:
                kind = "words in no order" if each.distinct <= MOST_COHORTS else "words, nearly all different"
                self.found[each.name] = (Use.IGNORED, f"{kind}: {count(each.distinct)} values")
        inputs = [name for name in self.all if self.found[name][0] in NUMBERS]
        for name in inputs[MOST:]:
            self.found[name] = (Use.IGNORED, f"more than {MOST} inputs")

    def _number(self, profile: Profile) -> Guess:
        if (
            profile.is_whole
            and profile.distinct == len(profile.column)
            and (says(profile.name, "case") or _counts(profile))
        ):
            return Use.IGNORED, "counts the rows or names the cases"
        if says(profile.name, "distance"):
            return Use.DISTANCE, f"a number; its name says {says(profile.name, 'distance')}"
        if says(profile.name, "poor") or (says(profile.name, "quality") and says(profile.name, "risk")):
            return Use.QUALITY, f"a number; its name says {says(profile.name, 'quality') or says(profile.name, 'poor')}"
        if says(profile.name, "quality"):
            return Use.RISK, "a number; its name says quality, not whether a high one is poor"
        if says(profile.name, "ai") or says(profile.name, "spread") or says(profile.name, "probability"):
            word = says(profile.name, "ai") or says(profile.name, "spread") or says(profile.name, "probability")
            return Use.AI_INPUT, f"a number; its name says {word}"
        if says(profile.name, "risk"):
            return Use.RISK, f"a number; its name says {says(profile.name, 'risk')}"
        if says(profile.name, "structure") and not self._auc(profile) < 0.5:
            area = self._auc(profile)
            higher = f", and higher where the truth is 1 (AUC {area:.2f})" if area >= 0.5 else ""
            return Use.STRUCTURE, f"a number; its name says {says(profile.name, 'structure')}{higher}"
        return Use.OTHER, "a number"


SCORES = (Use.LOGIT, Use.LOGIT_NEGATIVE, Use.LOGIT_POSITIVE)
NUMBERS = (Use.AI_INPUT, Use.RISK, Use.DISTANCE, Use.QUALITY, Use.STRUCTURE, Use.OTHER)


def _only(profile: Profile) -> str:
    """Which answers a column holds: only 0 and 1, or only yes and no, and whether some are unsure or empty."""
    said = " and ".join(sorted(profile.answers[:2]))
    rest = [*profile.unsure[:1], *([] if profile.complete else ["empty"])]
    return f"only {said}" + "".join(f" or {word}" for word in rest)


def _like_ids(profile: Profile) -> bool:
    """Whether words look like ids: most have a figure, there are many, and each comes a few times."""
    figures = np.mean([bool(re.search(r"\d", word)) for word in profile.words[:200]])
    return bool(figures > 0.9 and profile.distinct > MOST_COHORTS and profile.filled > 1.5 * profile.distinct)


def _counts(profile: Profile) -> bool:
    low, high = profile.ends
    return high - low + 1 == profile.distinct
