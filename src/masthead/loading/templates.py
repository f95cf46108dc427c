"""Templates: texts with names in braces, such as ``{street} {number}``.

They join columns of a row to one text, or split a cell into parts, which become columns. Matching
takes no more than a few thousand steps for any cell (decisions, "What a mapping can say").
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

_TOKENS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_KINDS = {
    "": re.compile(r".+"),
    "word": re.compile(r"[^\s,;]+"),
    "digits": re.compile(r"[0-9]+"),
    "number": re.compile(
        r"[0-9]+(?: ?(?:[A-Za-z]|bis|ter|1/2|½))?(?: ?[-/+] ?[0-9]+(?: ?[A-Za-z])?)?"
    ),
    "no-comma": re.compile(r"[^,;]+"),
}
"""The kinds of a part, which limit its text."""

_PARTS_MAX = 10
_LENGTH_MAX = 1_000
_SIGNS_MAX = 40
"""The maximum number of times that the text between two parts may occur in a cell."""

_SHOWN_MAX = 40

_Gap = tuple[int, int]
"""Where the text between two parts begins and ends."""


class Join(NamedTuple):
    """A template that joins columns; ``between`` has one text more than there are names."""

    names: tuple[str, ...]
    between: tuple[str, ...]

    def text(self, cells: Sequence[str]) -> str:
        """Return the joined text of stripped cells.

        The text before a column is left out if the column is empty, or if nothing stands before it.
        """
        joined = ""
        for n, (before, cell) in enumerate(zip(self.between, cells, strict=False)):
            if cell:
                joined += (before if joined or not n else "") + cell
        return joined + self.between[-1] if cells[-1] else joined


class Split:
    """A template that splits a cell into the parts ``names``."""

    def __init__(self, template: str) -> None:
        """Read a template. Raises ValueError, whose message completes "the template"."""
        self.template = template
        names, between = _parsed(template)
        given = [name.partition(":") for name in names]
        self.names = tuple(name.strip() for name, _, _ in given)
        kinds = [kind.strip() for _, _, kind in given]
        if len(names) > _PARTS_MAX:
            raise ValueError(f"has {len(names)} parts, and may have {_PARTS_MAX}")
        if not all(self.names):
            raise ValueError("has a part without a name")
        if len(set(self.names)) < len(names):
            raise ValueError("has two parts of the same name")
        if unknown := next((kind for kind in kinds if kind not in _KINDS), None):
            known = ", ".join(kind for kind in _KINDS if kind)
            raise ValueError(f"has a part of the kind {unknown[:_SHOWN_MAX]!r}; there are {known}")
        if not all(between[1:-1]):
            raise ValueError("has two parts without a sign or a space between them")
        self._kinds = [_KINDS[kind] for kind in kinds]
        self._signs = [_sign(text) for text in between]
        self._last_sign = re.compile(self._signs[-1].pattern + r"\Z", re.IGNORECASE)

    def parts(self, text: str) -> tuple[str, ...] | None:
        """Return the parts of a text, in the order of ``names``; None if it does not fit.

        Raises ValueError, whose message completes "<text>", if it fits in two ways.
        """
        text = " ".join(text.split())
        if len(text) > _LENGTH_MAX:
            raise ValueError(f"is too long to be split: a cell may have {_LENGTH_MAX} characters")
        begin = self._signs[0].match(text)
        end = self._last_sign.search(text) if begin else None
        if not begin or not end:
            return None
        gaps = [self._gaps(sign, text) for sign in self._signs[1:-1]]
        gaps.append([end.span()])
        start = begin.end()
        ends = self._ends(text, start, gaps)
        if start not in ends[0]:
            return None
        first = tuple(_read(text, ends, start, 0))
        if all(len(gap) == 1 for gap in gaps):
            return first
        last = tuple(_read(text, ends, start, -1))
        if first != last:
            raise ValueError(
                f"is written {self.template!r} in two ways, {_shown(first)} and {_shown(last)}: "
                "give a part its kind, such as {name:word}"
            )
        return first

    def _ends(
        self, text: str, start: int, gaps: Sequence[Sequence[_Gap]]
    ) -> list[dict[int, list[_Gap]]]:
        """Return, for each part, where it can end if it begins at a place, so that the rest fits.

        ``gaps`` are the places of the text after each part.
        """
        ends: list[dict[int, list[_Gap]]] = [{} for _ in gaps]
        following: Collection[int] = (len(text),)
        for n in range(len(gaps) - 1, -1, -1):
            for begin in [after for _, after in gaps[n - 1]] if n else [start]:
                fitting = [
                    gap
                    for gap in gaps[n]
                    if gap[0] > begin
                    and gap[1] in following
                    and self._kinds[n].fullmatch(text, begin, gap[0])
                ]
                if fitting:
                    ends[n][begin] = fitting
            following = ends[n]
        return ends

    def _gaps(self, sign: re.Pattern[str], text: str) -> list[_Gap]:
        gaps = [match.span() for match in sign.finditer(text)]
        if len(gaps) > _SIGNS_MAX:
            raise ValueError(f"is too long to be split by {self.template!r}")
        return gaps


def _read(
    text: str, ends: Sequence[dict[int, list[_Gap]]], start: int, which: int
) -> Iterator[str]:
    """Yield the parts of a text, each with its first (0) or its last (-1) possible end."""
    for possible in ends:
        end, after = possible[start][which]
        yield text[start:end]
        start = after


def join_of(template: str) -> Join:
    """Return a template that joins. Raises ValueError, whose message completes "the template"."""
    names, between = _parsed(template)
    if not all(names):
        raise ValueError("has {} without the name of a column")
    return Join(tuple(names), tuple(between))


def _parsed(template: str) -> tuple[list[str], list[str]]:
    """Return the names in braces, and the texts before, between and after them."""
    names: list[str] = []
    between = [""]
    for match in _TOKENS.finditer(template):
        token = match.group()
        if token in {"{{", "}}"}:
            between[-1] += token[0]
        elif match[1] is not None:
            names.append(match[1].strip())
            between.append("")
        elif token in {"{", "}"}:
            raise ValueError("has a single brace: a name has one on each side, a brace is {{ or }}")
        else:
            between[-1] += token
    if not names:
        raise ValueError("has no name in braces, such as {name}")
    return names, between


def _sign(text: str) -> re.Pattern[str]:
    """Return the pattern of the text between two parts.

    Letter case does not count, and neither do spaces beside a sign.
    """
    if text and not text.strip():
        return re.compile(r"\s+")
    pattern = ""
    for n, piece in enumerate(pieces := re.split(r"\s+", text)):
        if n:
            is_word = pieces[n - 1][-1:].isalnum() or piece[:1].isalnum()
            pattern += r"\s+" if is_word else r"\s*"
        pattern += re.escape(piece)
    stripped = text.strip()
    before = r"\s*" if stripped and not stripped[0].isalnum() else ""
    after = r"\s*" if stripped and not stripped[-1].isalnum() else ""
    return re.compile(f"{before}{pattern}{after}", re.IGNORECASE)


def _shown(parts: Sequence[str]) -> str:
    return " + ".join(repr(part[:_SHOWN_MAX]) for part in parts)
