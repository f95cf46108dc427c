"""The pages of the user documentation, cut out of its files.

A file that is too long for one page becomes several: an overview, and a page for each section of
the second level. Links into such a file lead to the page that has the section.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from masthead.api.operations.manual.contents import PAGES

_LONG_CHARACTERS = 60_000
_FENCE_OR_HEADING = re.compile(r"^(?:```|(#{1,3}) (.+)$)", re.MULTILINE)
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w\- ]")


class Section(NamedTuple):
    """A heading with its level, and the text up to the next heading."""

    level: int
    title: str
    text: str

    @property
    def anchor(self) -> str:
        """The anchor that links in the files use for the heading."""
        return anchor_of(self.title)


class Page(NamedTuple):
    """A page: a file, or a section of a file that is too long for one page.

    ``file`` is the name of its file. ``sections`` begins with that of the page's title. ``parts``
    are the pages of an overview's sections. ``topic`` may be empty.
    """

    name: str
    file: str
    title: str
    topic: str
    sections: Sequence[Section]
    parts: Sequence["Page"] = ()

    @property
    def text(self) -> str:
        """The page in Markdown."""
        return "".join(
            f"{'#' * section.level} {section.title}\n{section.text}" for section in self.sections
        )


class Manual(NamedTuple):
    """All pages by name in their order, and the page of each anchor of the files that are cut."""

    pages: dict[str, Page]
    cut: dict[str, dict[str, str]]

    def page_of(self, file: str, anchor: str) -> str:
        """Return the name of the page that has an anchor of a file."""
        return self.cut.get(file, {}).get(anchor, file)


def anchor_of(title: str) -> str:
    """Return the anchor of a heading, as web sites that show the files make it."""
    return _NOT_IN_AN_ANCHOR.sub("", title.lower()).replace(" ", "-")


def file_of(name: str) -> Path:
    """Return the path of a file: in a package it is beside the code, in a checkout in docs."""
    package = Path(str(files("masthead")))
    packed = package / "manual" / name
    return packed if packed.exists() else package.parents[1] / "docs" / name


@cache
def manual() -> Manual:
    """Return the pages of this installation; a file that it lacks has no page."""
    pages: dict[str, Page] = {}
    cut = {}
    for file in PAGES:
        try:
            text = file_of(f"{file}.md").read_text(encoding="utf-8")
        except OSError:
            continue
        page = _page(file, text)
        pages |= {page.name: page, **{part.name: part for part in page.parts}}
        if page.parts:
            cut[file] = {
                section.anchor: part.name
                for part in reversed(page.parts)
                for section in reversed(part.sections)
            }
    return Manual(pages, cut)


def _page(file: str, text: str) -> Page:
    title, _, topic = PAGES[file].partition(": ")
    sections = list(_sections(text))
    if len(text) <= _LONG_CHARACTERS:
        return Page(file, file, title, topic, sections)
    starts = [at for at, section in enumerate(sections) if section.level == 2]
    parts = [
        Page(f"{file}-{sections[start].anchor}", file, sections[start].title, "", found)
        for start, end in pairwise([*starts, len(sections)])
        for found in (sections[start:end],)
    ]
    return Page(file, file, title, topic, sections[: starts[0]], parts)


def _sections(text: str) -> Iterator[Section]:
    """Yield the sections of a file, which begins with a heading."""
    found = []
    is_code = False
    for match in _FENCE_OR_HEADING.finditer(text):
        if match[1] is None:
            is_code = not is_code
        elif not is_code:
            found.append(match)
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        yield Section(len(match[1]), match[2], text[match.end() + 1 : end])
