"""Pages of the user documentation as HTML, for a server and for a static site."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from masthead.api.operations.manual.contents import GROUP_OF, GROUPS
from masthead.api.operations.manual.highlighting import highlighted
from masthead.api.operations.manual.pages import Manual, Page, anchor_of, file_of, manual

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

    from masthead.api.operations.manual.searching import Hit

CONTENTS_TITLE = "User documentation"
_TEMPLATES = Path(__file__).parent.with_name("pages")
_LINK = re.compile(r"(?:(?P<file>[a-z-]+)\.md)?(?:#(?P<anchor>.*))?")
_HEADINGS_MAX = 40
"""A list of a page's contents with more entries leaves out the third level."""


class Addresses(NamedTuple):
    """Where links lead: ``folder`` is that of the pages, ``assets`` that of the other files."""

    folder: str
    ending: str
    contents: str
    assets: str
    is_site: bool = False

    def page(self, name: str, anchor: str = "") -> str:
        """Return the address of a page, or of a heading on it."""
        return f"{self.folder}{name}{self.ending}{anchor and f'#{anchor}'}"


SERVER = Addresses("{base}manual/", "", "{base}manual", "{base}")
"""A server's addresses, in which ``{base}`` stands for the relative path to its root."""

SITE = Addresses("", ".html", "index.html", "", is_site=True)
"""The addresses of a static site, whose files are all in one folder."""


class _Entry(NamedTuple):
    level: int
    title: str
    anchor: str


def page_html(page: Page, addresses: Addresses) -> str:
    """Return a page."""
    body, entries = _Body(page, addresses).rendered()
    if len(entries) > _HEADINGS_MAX:
        entries = [entry for entry in entries if entry.level == 2]
    names = list(manual().pages)
    at = names.index(page.name)
    return _template(
        "manual.html",
        addresses,
        title=page.title,
        current=page,
        body=body,
        entries=entries if len(entries) > 1 else [],
        previous=manual().pages[names[at - 1]] if at else None,
        following=manual().pages[names[at + 1]] if at + 1 < len(names) else None,
    )


def contents_html(addresses: Addresses) -> str:
    """Return the page that lists all pages for each kind of reader."""
    return _template("manual_contents.html", addresses, title=CONTENTS_TITLE)


def search_html(query: str, hits: Sequence["Hit"], addresses: Addresses) -> str:
    """Return the page of what was found; a static site's page finds it in the browser."""
    return _template("manual_search.html", addresses, title="Search", query=query, hits=hits)


@cache
def images() -> Sequence[str]:
    """Return the paths of the pictures below ``images``; a package has none."""
    folder = file_of("images")
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def _template(name: str, addresses: Addresses, **values: object) -> str:
    shown = {"query": "", "current": None, **values}
    return (
        _environment()
        .get_template(name)
        .render(url=addresses, groups=GROUPS, group_of=GROUP_OF, pages=manual().pages, **shown)
    )


@cache
def _environment() -> "Environment":
    # The import takes 0.1 seconds, and most servers never show a page.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


class _Body:
    """The body of a page, and the headings on it."""

    def __init__(self, page: Page, addresses: Addresses) -> None:
        self._page = page
        self._addresses = addresses
        self._manual: Manual = manual()

    def rendered(self) -> tuple[str, list[_Entry]]:
        """Return the body in HTML, and its headings below that of the page."""
        parser = _parser()
        tokens = parser.parse(self._page.text)
        entries = []
        promoted = self._page.sections[0].level - 1
        for opening, inline in pairwise(tokens):
            if opening.type == "heading_open":
                title, anchor = _plain(inline), anchor_of(inline.content)
                level = int(opening.tag[1:]) - promoted
                opening.tag = f"h{level}"
                opening.attrSet("id", anchor)
                if level > 1:
                    entries.append(_Entry(level, title, anchor))
            elif opening.type == "heading_close":
                opening.tag = f"h{int(opening.tag[1:]) - promoted}"
            elif opening.type == "paragraph_open":
                self._pictures(opening, inline)
            for token in inline.children or ():
                self._lead(token)
        return str(parser.renderer.render(tokens, parser.options, {})), entries

    def _pictures(self, paragraph: "Token", inline: "Token") -> None:
        """Mark a paragraph of pictures; empty it if this installation lacks them."""
        children = inline.children or []
        if not any(token.type == "image" for token in children):
            return
        if all(token.type in {"image", "softbreak"} for token in children):
            paragraph.attrSet("class", "pictures")
            inline.children = [token for token in children if self._is_here(token)]

    def _is_here(self, token: "Token") -> bool:
        return str(token.attrGet("src") or "").removeprefix("images/") in images()

    def _lead(self, token: "Token") -> None:
        """Point a link between files to the page; remove the target if the file is not a page."""
        if token.type == "image":
            token.attrSet("src", f"{self._addresses.folder}{token.attrGet('src')}")
            token.attrSet("loading", "lazy")
        target = str(token.attrGet("href") or "")
        if token.type != "link_open" or target.startswith(("http://", "https://")):
            return
        found = _LINK.fullmatch(target)
        file = (found["file"] or self._page.file) if found else ""
        anchor = (found and found["anchor"]) or ""
        page = self._manual.page_of(file, anchor)
        if page not in self._manual.pages:
            del token.attrs["href"]
        elif page != self._page.name or not anchor:
            token.attrSet("href", self._addresses.page(page, anchor))


def _plain(inline: "Token") -> str:
    return "".join(token.content for token in inline.children or ())


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("heading_close", _heading_close)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _fence(
    _renderer: "RendererHTML",
    tokens: Sequence["Token"],
    at: int,
    _options: "OptionsDict",
    _env: "EnvType",
) -> str:
    """Return a block of code, or what the block before it printed."""
    language = tokens[at].info.strip()
    kind = "output" if language in {"", "text", "log"} else "code"
    code = highlighted(tokens[at].content, language)
    return f'<div class="{kind}"><pre tabindex="0"><code>{code}</code></pre></div>\n'


def _heading_close(
    _renderer: "RendererHTML",
    tokens: Sequence["Token"],
    at: int,
    _options: "OptionsDict",
    _env: "EnvType",
) -> str:
    """Return the end of a heading, with a link to it that a pointer shows."""
    anchor = escape(str(tokens[at - 2].attrGet("id")))
    link = f'<a class="anchor" href="#{anchor}" aria-hidden="true" tabindex="-1">#</a>'
    return f"{link if tokens[at].tag != 'h1' else ''}</{tokens[at].tag}>\n"


def _table_open(
    _renderer: "RendererHTML",
    _tokens: Sequence["Token"],
    _at: int,
    _options: "OptionsDict",
    _env: "EnvType",
) -> str:
    return '<div class="scroll" tabindex="0"><table>\n'


def _table_close(
    _renderer: "RendererHTML",
    _tokens: Sequence["Token"],
    _at: int,
    _options: "OptionsDict",
    _env: "EnvType",
) -> str:
    return "</table></div>\n"
