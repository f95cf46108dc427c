"""The user documentation: grouped by reader, searched, coloured, small, and as a static site."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import TYPE_CHECKING

import httpx2
import pytest
from click.testing import CliRunner

from masthead.api.operations.manual.contents import GROUPS, PAGES
from masthead.api.operations.manual.highlighting import highlighted
from masthead.api.operations.manual.pages import manual
from masthead.api.operations.manual.searching import index
from masthead.circulation.page_colours import TEXT, contrast
from masthead.cli import cli
from tests.servers import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.conftest import House

BYTES_MAX = 100_000
STYLE = ROOT / "src" / "masthead" / "api" / "operations" / "pages" / "pages.css"
LINKS = re.compile(r'(?:href|src|action)="([^"]*)"')
GROUNDS = ("page", "card", "accent-soft")
CODE = ("comment", "keyword", "string", "number", "name", "builtin")
PAIRS = [
    *((colour, ground, TEXT) for colour in ("ink", "quiet", "accent") for ground in GROUNDS),
    *((f"code-{kind}", "card", TEXT) for kind in CODE),
    ("ink", "line", TEXT),
    ("accent-ink", "accent", TEXT),
    *(("edge", ground, 3.0) for ground in GROUNDS),
]
"""A colour, what it stands on, and the contrast that it needs (WCAG 2.2, 1.4.3 and 1.4.11)."""


@cache
def colours(scheme: str) -> dict[str, str]:
    light, dark = re.findall(r":root \{(.+?)\}", STYLE.read_text(), re.DOTALL)[:2]
    shown = light if scheme == "light" else light + dark
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", shown))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static site, as its command writes it."""
    folder = tmp_path_factory.mktemp("site") / "manual"
    done = CliRunner().invoke(cli, ["manual", str(folder)])
    pages = len(list(folder.glob("*.html")))
    assert (done.exit_code, done.output) == (
        0,
        f"{pages} pages written to {folder}; begin with index.html\n",
    )
    return folder


def test_each_page_stands_in_one_group() -> None:
    """rules, "The user documentation"."""
    assert sum(len(group.pages) for group in GROUPS) == len(PAGES)
    assert [group.title for group in GROUPS] == [
        *("Start here", "Operator", "Circulation and finance", "Readers' pages", "Integrator"),
        *("Data engineer", "Reference"),
    ]


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("gap list", "circulation"),
        ("restore", "operator"),
        ("restoring the backup", "operator"),
        ("bundle", "circulation"),
        ("401", "integrator"),
        ("credit note", "finance"),
        ("Credit Notes", "finance"),
        ("bounces", "mail"),
        ("duckdb", "data-engineer"),
        ("invoice template", "documents"),
        ("masthead serve", "reference-masthead-serve"),
        ("D-401", "decisions-tests-partners-and-reports"),
        ("glossary", "glossary"),
    ],
)
def test_a_search_finds_the_page_that_explains_it_first(query: str, page: str) -> None:
    """decisions, "The search of the documentation"."""
    assert index().search(query)[0].page == page


def test_a_search_for_nothing_finds_nothing() -> None:
    for query in ("", "  ", "the", "zyzzyva", "<>"):
        assert index().search(query) == [], query


def test_a_server_shows_what_it_found_without_a_script(gate: House) -> None:
    """rules, "The user documentation"."""
    search = f"{gate.server.url}/manual/search"
    answer = httpx2.get(f"{search}?q=credit+note%22%3E%3Cb%3E", timeout=30)
    assert answer.status_code == 200
    assert 'value="credit note&#34;&gt;&lt;b&gt;"' in answer.text
    hits = answer.text[answer.text.index('<ol class="hits">') :]
    assert LINKS.findall(hits)[0] == "../manual/finance#credit-notes"
    nothing = httpx2.get(f"{search}/?q=zyzzyva", timeout=30)
    assert "No page has these words: <b>zyzzyva</b>" in nothing.text
    assert 'action="../../manual/search"' in nothing.text


def test_code_has_colours_and_nothing_is_lost() -> None:
    code = 'from x import y  # <b>\nprint(f"{y}" & 1)\n'
    marked = highlighted(code, "python")
    assert '<span class="k">from</span>' in marked
    assert '<span class="c"># &lt;b&gt;</span>' in marked
    assert unescape(re.sub(r"</?span[^>]*>", "", marked)) == code
    assert highlighted("a <b>\n", "text") == highlighted("a <b>\n", "unheard-of") == "a &lt;b&gt;\n"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_colour_is_read_on_what_it_stands_on(scheme: str) -> None:
    """rules, "The user documentation": WCAG 2.2, in both schemes."""
    named = colours(scheme)
    found = [
        (one, other, contrast(named[one], named[other]), needed) for one, other, needed in PAIRS
    ]
    assert [pair for pair in found if pair[2] < pair[3]] == []


def test_each_page_is_small_and_asks_no_other_host(site: Path) -> None:
    """rules, "The user documentation"."""
    pages = {path.name: path.read_text() for path in site.glob("*.html")}
    assert {name: len(text) for name, text in pages.items() if len(text.encode()) > BYTES_MAX} == {}
    for name, text in pages.items():
        loaded = re.findall(r'<(?:script|link|img|form)[^>]*(?:src|href|action)="([^"]*)"', text)
        assert not [url for url in loaded if ":" in url], name
        assert len(re.findall("<h1[ >]", text)) == 1, name
    assert "url(" not in STYLE.read_text()


def test_each_link_of_the_static_site_leads_to_a_file_and_a_heading(site: Path) -> None:
    """rules, "The user documentation": it works as files."""
    anchors = {
        path.name: set(re.findall(r'\bid="([^"]*)"', path.read_text()))
        for path in site.glob("*.html")
    }
    for path in site.glob("*.html"):
        text = re.sub("<pre.*?</pre>", "", path.read_text(), flags=re.DOTALL)
        for link in map(unescape, LINKS.findall(text)):
            if link.startswith(("http://", "https://")):
                continue
            file, _, anchor = link.partition("#")
            assert (site / file).is_file() or not file, f"{path.name}: {link}"
            assert not anchor or anchor in anchors[file or path.name], f"{path.name}: {link}"


def test_a_long_file_is_an_overview_and_a_page_for_each_section() -> None:
    """rules, "The user documentation": old links to its headings still lead there."""
    parts = manual().pages["reference"].parts
    assert [part.title for part in parts][:2] == ["Operations", "Wire shapes"]
    assert manual().page_of("reference", "masthead-accounts-add") == "reference-masthead-accounts"
    assert manual().page_of("operator", "back-it-up") == "operator"
