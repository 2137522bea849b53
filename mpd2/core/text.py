"""Numbers, lists and sentences as people write them.

On screen a negative number has a true minus, and a per cent sign stands off by a space that does not break. Files such
as RESULTS.md are plain: a hyphen for minus, no space before the sign. `typeset` makes the first of the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan

from mpd2.core.files import ROOT

GAP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
NOTHING = "–"  # stands where there is no number
ABSOLUTE = re.compile(r"(?<![\w.:/~])(?:/[^\s/:;,'\"`()<>]+){2,}/?")  # a path from the root of a disk


def decimal(value: float, places: int = 3, signed: bool = False) -> str:
    """A number to so many places, `signed` with a plus too; zero has no sign.

    >>> decimal(0.1784), decimal(-0.0004), decimal(-1.5, 1), decimal(0.194, signed=True), decimal(float("nan"))
    ('0.178', '0.000', '−1.5', '+0.194', '–')
    """
    if isnan(value):
        return NOTHING
    rounded = round(value, places) + 0.0  # no negative zero
    return f"{'+' if signed and rounded > 0 else ''}{rounded:.{places}f}".replace("-", MINUS)


def percent(share: float, places: int | None = None) -> str:
    r"""A share in per cent, to so many places, or to three digits without zeros at the end.

    >>> [percent(0.3891, 1), percent(0.314, 0), percent(0.2), percent(0.05678), percent(float("nan"))]
    ['38.9\xa0%', '31\xa0%', '20\xa0%', '5.68\xa0%', '–']
    """
    if isnan(share):
        return NOTHING
    return f"{f'{100 * share:.3g}' if places is None else decimal(100 * share, places)}{GAP}%"


def points(difference: float) -> str:
    """How far two shares are apart.

    >>> points(0.021), points(-0.3)
    ('+2.1 points', '−30.0 points')
    """
    return f"{decimal(100 * difference, 1, signed=True)} points"


def interval(low: float, high: float, places: int = 3, signed: bool = False) -> str:
    """The two ends of an interval; empty where there is none.

    >>> interval(0.163, 0.193), interval(-0.04, 0.0, signed=True), interval(float("nan"), float("nan"))
    ('0.163 to 0.193', '−0.040 to 0.000', '')
    """
    return "" if isnan(low) else f"{decimal(low, places, signed)} to {decimal(high, places, signed)}"


def percent_interval(low: float, high: float, places: int = 1) -> str:
    r"""The two ends of an interval of a share.

    >>> percent_interval(0.163, 0.193)
    '16.3 to 19.3\xa0%'
    """
    ends = interval(100 * low, 100 * high, places)
    return ends and f"{ends}{GAP}%"


def count(n: int) -> str:
    """A number of things.

    >>> count(12345)
    '12,345'
    """
    return f"{n:,}"


def numbered(n: int, one: str, many: str = "") -> str:
    """So many of something; `many` is what several are called, where it is more than an s.

    >>> numbered(1, "finding is", "findings are"), numbered(1234, "case"), numbered(0, "pathology", "pathologies")
    ('1 finding is', '1,234 cases', '0 pathologies')
    """
    return f"{count(n)} {one if n == 1 else many or f'{one}s'}"


def chance(probability: float) -> str:
    """A probability to two digits that never claims to be certain.

    >>> chance(0.873), chance(0.9997), chance(0.0)
    ('0.87', 'over 0.99', 'under 0.01')
    """
    return "over 0.99" if probability > 0.99 else "under 0.01" if probability < 0.01 else decimal(probability, 2)


def in_short(words: str) -> str:
    """The same in signs, where there is little room.

    >>> in_short(chance(0.9997)).split(), in_short(chance(0.5))
    (['>', '0.99'], '0.50')
    """
    return words.replace("over ", f">{GAP}").replace("under ", f"<{GAP}")


def of_100(probability: float) -> str:
    """How many of a hundred cases; never certain.

    >>> of_100(0.41), of_100(0.0004), of_100(0.999)
    ('41', 'under 1', 'over 99')
    """
    return "under 1" if probability < 0.005 else "over 99" if probability > 0.995 else f"{100 * probability:.0f}"


def brief(value: float) -> str:
    """A number with as many digits as are worth reading, in plain text.

    >>> brief(0.8476), brief(-12.0), brief(12.055), brief(393.2), brief(float("nan"))
    ('0.848', '-12', '12.1', '393', '–')
    """
    if isnan(value):
        return NOTHING
    if abs(value) >= 100 or (abs(value) > 1 and value == round(value)):
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def typeset(text: str) -> str:
    r"""Plain text as it is shown on screen.

    >>> typeset("MPD²-Router: -0.035 [-0.051, +0.017] in 95% of resamples")
    'MPD²-Router: −0.035 [−0.051, +0.017] in 95\xa0% of resamples'
    """
    return re.sub(r"(?<=\d) ?%", f"{GAP}%", re.sub(r"(?<!\w)-(?=\d)", MINUS, text))


def verbatim(text: str) -> str:
    """What somebody typed as Markdown that shows just that: no picture is loaded, no link is made.

    >>> verbatim("![x](http://a.b)")
    '\\\\!\\\\[x\\\\]\\\\(http\\\\://a.b\\\\)'
    """
    return re.sub(r"([\\`*_{}\[\]()#!|<>~:$])", r"\\\1", without_folders(text))


def without_folders(text: str) -> str:
    """A message for visitors, whom it does not concern where on the server something is: of a path its end alone.

    >>> without_folders("/srv/mpd2/build/workspaces/nights/manifest.toml: damaged; see http://a.b/c/d or 1/2/3")
    'nights/manifest.toml: damaged; see http://a.b/c/d or 1/2/3'
    """
    return ABSOLUTE.sub(lambda path: "/".join(path[0].rstrip("/").split("/")[-2:]), text.replace(f"{ROOT}/", ""))


def plain_words(text: str) -> str:
    """A name that somebody typed without what would be more than words on a page: no mark-up, no formula, no link.

    >>> plain_words("![x](http://a.b) <b>Dr. Müller</b>  #2, 5 %"), plain_words("p_value")
    ('! x (http a.b) b Dr. Müller /b #2, 5 %', 'p_value')
    """
    return " ".join(re.sub(r"://|www\.|[\x00-\x20\x7f<>\[\]`*{}\\|~$]", " ", text).split())


def listed(words: Sequence[str]) -> str:
    """Words in a sentence.

    >>> listed(["Mao", "Verma", "Hemmer"])
    'Mao, Verma and Hemmer'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def several(word: str) -> str:
    """More than one of it, as English words mostly have it.

    >>> several("tracing"), several("pneumothorax"), several("biopsy"), several("X-ray"), several("diagnosis")
    ('tracings', 'pneumothoraxes', 'biopsies', 'X-rays', 'diagnoses')
    """
    if word.endswith("sis"):
        return f"{word[:-2]}es"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def capital(text: str) -> str:
    """With a capital at the beginning, and the rest as it is.

    >>> capital("share of MCC")
    'Share of MCC'
    """
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """With a capital and a full stop.

    >>> sentence("beyond chance")
    'Beyond chance.'
    """
    return f"{capital(text)}."
