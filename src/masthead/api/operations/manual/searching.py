"""The search of the user documentation: an index of its sections, made when it is first needed.

The index has a score for each word and section, by how rare the word is and where it stands: in a
heading, in the title of the page, or in the text. A search adds the scores up. So a static site can
search the same index with a few lines of JavaScript (``pages/manual.js``), with the same result.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import log
from typing import NamedTuple

from masthead.api.operations.manual.pages import Page, Section, manual

_WORD = re.compile(r"d-\d+|\w+")
_ENDING = re.compile(r"(?:(.{4,})(?:ing|ed|es|e)|(..+[^s])s)$")
_MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*|]")
_CODE_OR_TABLE = re.compile(r"^```.*?^```$|^\|.*$|^!.*$", re.MULTILINE | re.DOTALL)
_NOT_AN_EXCERPT = re.compile(r"^```.*$|^\|.*\n\| ---.*$|^Usage: .*$|^!.*$", re.MULTILINE)
_COMMON_SHARE = 0.3
"""Words of more sections than this, such as "the", have no scores, and find nothing."""

_WORDS_MAX = 8
_HITS_MAX = 20
_HITS_OF_A_PAGE_MAX = 3
_PREFIX_MIN = 3
_PREFIX_PERCENT = 60
_EXCERPT_CHARACTERS = 140
_TITLE_TIMES, _PAGE_TITLE_TIMES = 8, 4
_WEIGHTS = {
    "reference": 0.75,
    **dict.fromkeys(("circulation-example", "qualification-example", "billing-example"), 0.6),
    **dict.fromkeys(("rules", "architecture", "design-system"), 0.5),
    **dict.fromkeys(("decisions", "console-pages", "readers-pictures"), 0.4),
}
"""The files that are looked up less often than read; the others have 1."""


class Hit(NamedTuple):
    """A section that was found: its page, the title of that, and how its text begins."""

    page: str
    anchor: str
    title: str
    page_title: str
    excerpt: str


class Index(NamedTuple):
    """All sections, and for each word the scores of those that have it."""

    sections: Sequence[Hit]
    scores: Mapping[str, Mapping[int, int]]

    def search(self, query: str) -> list[Hit]:
        """Return the best sections with all words of a query, or else with some of them.

        A section whose heading is the query, if that has several words, comes first.
        """
        words = words_of(query)[:_WORDS_MAX]
        totals: dict[int, tuple[int, int]] = {}
        for word in words:
            for number, score in self._scores_of(word).items():
                count, total = totals.get(number, (0, 0))
                totals[number] = count + 1, total + score
        most = max((count for count, _ in totals.values()), default=0)
        ranked = sorted(
            (len(words) < 2 or words_of(self.sections[number].title) != words, -total, number)
            for number, (count, total) in totals.items()
            if count == most
        )
        hits: list[Hit] = []
        of_pages: Counter[str] = Counter()
        for *_, number in ranked:
            hit = self.sections[number]
            of_pages[hit.page] += 1
            if of_pages[hit.page] <= _HITS_OF_A_PAGE_MAX:
                hits.append(hit)
        return hits[:_HITS_MAX]

    def _scores_of(self, word: str) -> dict[int, int]:
        """Return the scores of a word, and lower ones of words that begin with it."""
        found = dict(self.scores.get(word, {}))
        if len(word) >= _PREFIX_MIN and (found or word not in self.scores):
            for other, scores in self.scores.items():
                if other.startswith(word):
                    for number, score in scores.items():
                        found[number] = max(found.get(number, 0), score * _PREFIX_PERCENT // 100)
        return found


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case and without their endings."""
    return [_stem(word) for word in _WORD.findall(text.lower())]


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return _ENDING.sub(r"\1\2", word)


@cache
def index() -> Index:
    """Return the index of all pages."""
    sections = list(_all_sections())
    counts = [_counts(page, section) for page, section in sections]
    lengths = [max(sum(one.values()), 1) for one in counts]
    mean = sum(lengths) / len(lengths)
    of_pages: dict[str, Counter[str]] = defaultdict(Counter)
    for (page, _), one in zip(sections, counts, strict=True):
        of_pages[page.name].update(one)
    in_sections = Counter(word for one in counts for word in one)
    common = {word for word, times in in_sections.items() if times > len(counts) * _COMMON_SHARE}
    scores: dict[str, dict[int, int]] = defaultdict(dict, {word: {} for word in common})
    for number, ((page, _), one) in enumerate(zip(sections, counts, strict=True)):
        weight = 100 * _WEIGHTS.get(page.file, 1.0)
        length = 0.7 + 0.3 * lengths[number] / mean
        for word, count in one.items():
            if word in common:
                continue
            rare = log(1 + len(sections) / in_sections[word])
            on_page = of_pages[page.name][word]
            nearness = count / (count + length) + on_page / (on_page + 15)
            scores[word][number] = round(weight * rare * nearness)
    return Index([_hit(page, section) for page, section in sections], scores)


def _all_sections() -> Iterator[tuple[Page, Section]]:
    for page in manual().pages.values():
        for section in page.sections:
            yield page, section


def _counts(page: Page, section: Section) -> Counter[str]:
    """Return how often each word stands in a section, those of headings many times."""
    counts = Counter(words_of(section.text))
    for words, times in ((section.title, _TITLE_TIMES), (page.title, _PAGE_TITLE_TIMES)):
        for word in words_of(words):
            counts[word] += times
    if section is page.sections[0]:
        for word in words_of(f"{page.topic} {page.file}"):
            counts[word] += _PAGE_TITLE_TIMES
    return counts


def _hit(page: Page, section: Section) -> Hit:
    prose = " ".join(_plain(_CODE_OR_TABLE.sub("", section.text)).split())
    prose = prose or " ".join(_plain(_NOT_AN_EXCERPT.sub("", section.text)).split())
    if len(prose) > _EXCERPT_CHARACTERS:
        prose = prose[:_EXCERPT_CHARACTERS].rpartition(" ")[0] + " …"
    return Hit(page.name, section.anchor, _plain(section.title), page.title, prose)


def _plain(text: str) -> str:
    return _MARKS.sub(r"\1", text)
