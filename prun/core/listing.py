"""What ``agy --version`` and ``agy models`` print, read."""

from __future__ import annotations

import re
from typing import TypeAlias

from prun.core.blank import stripped
from prun.core.families import group_of
from prun.core.plain import visible, without_escapes
from prun.core.values import dataclass

Version: TypeAlias = tuple[int, ...]

_NUMBER = r"v?([0-9]{1,6}(?:\.[0-9]{1,6}){1,2})"
_BARE = re.compile(rf"{_NUMBER}(?:[-+][0-9A-Za-z.+-]+)?")
_WITHIN = re.compile(rf"(?<![0-9A-Za-z.]){_NUMBER}(?!\.?[0-9A-Za-z])")
_LINE_END = re.compile(r"[\r\n]+")
_BULLETS = re.compile(
    r"(?:[\u00b7\u2022\u2023\u2192\u25aa\u25b8\u25cb\u25cf\u25e6\u2713\u2714]\s*|[-*+>\u2013\u2014]\s+|[0-9]{1,3}[.)]\s+)+"
)
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._:/-]*[a-z0-9])?")
_DIGIT = re.compile(r"[0-9]")
_BANNER_ENDS = (":", "...", "\N{HORIZONTAL ELLIPSIS}")


@dataclass(frozen=True, slots=True)
class Listing:
    """The models agy lists: *slugs* in its order, *labels* the lines that name no slug, banners left out."""

    slugs: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def readable(self) -> bool:
        """Whether any model was named by its slug."""
        return bool(self.slugs)


def read_version(text: str) -> Version | None:
    """Return the version that ``agy --version`` printed, ``None`` where there is none in *text*."""
    lines = _lines(text)
    bare = (match for line in lines if (match := _BARE.fullmatch(line)))
    within = (match for line in lines if (match := _WITHIN.search(line)))
    found = next(bare, None) or next(within, None)
    return None if found is None else tuple(int(part) for part in found[1].split("."))


def read_models(text: str) -> Listing:
    """Return the models that ``agy models`` printed: a slug, a tab or blanks, and a label on each line."""
    slugs: dict[str, None] = {}
    labels: dict[str, None] = {}
    for line in _lines(text):
        bare = line[match.end() :] if (match := _BULLETS.match(line)) else line
        slug = _slug_of(bare)
        if slug is not None:
            slugs.setdefault(slug)
        elif bare and not bare.endswith(_BANNER_ENDS):
            labels.setdefault(visible(bare))
    return Listing(tuple(slugs), tuple(labels))


def _lines(text: str) -> list[str]:
    return [line for part in _LINE_END.split(without_escapes(text)) if (line := stripped(part))]


def _slug_of(line: str) -> str | None:
    """Return the slug that *line* begins with; a label, or a sentence, begins with none."""
    before_tab, tab, _ = line.partition("\t")
    word, _, label = line.partition(" ")
    if tab and " " not in before_tab.strip():
        return before_tab.strip()
    if _SLUG.fullmatch(word) is None or "-" not in word:
        return None
    label = label.strip()
    if not label or group_of(word) is not None:
        return word
    return word if _DIGIT.search(word) and not label[0].islower() else None
