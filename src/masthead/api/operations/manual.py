"""The user documentation at /manual: the Markdown files of the project's ``docs``, as pages.

So the operators and users of a server can read the documentation of its exact version offline.
"""

import asyncio
import re
from collections.abc import Awaitable
from functools import cache, partial
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from masthead.api.http.request import Request
from masthead.api.http.routing import PublicRoute
from masthead.api.operations.static_files import StaticPage, bytes_of

if TYPE_CHECKING:
    from markdown_it.token import Token

PAGES = {
    "integrator": "For the integrator: look up readers and check their logins, from any language",
    "paywall": "A site with a paywall: ask once a day what a reader may read",
    "embedding": "Embed the readers' pages: links, a proxy, and readers who are signed in",
    "testing": "For testers: a service to test against, with faults and a clock that moves",
    "data-engineer": "For the data engineer: keep a copy of all data, and prove it complete",
    "pipelines": "Pipelines: dlt and Singer load all data into a database or a warehouse",
    "checking": "Check a service: compare any service with the interface",
    "loading": "Load a spreadsheet in an afternoon: from the file to readers who log in",
    "nightly": "Load files every night: what they contain, what is checked, what is removed",
    "mapping": "Mapping files: load the files of another system",
    "exports": "Exports of other systems: mappings that come with Masthead",
    "operator": "For the operator: install, give credentials, watch, back up",
    "circulation": "For the circulation manager: orders, issues and renewals, day by day",
    "circulation-rules": "The rules of circulation: terms, issues, money, reports",
    "circulation-example": "A worked example of circulation: every figure by hand",
    "qualification": "Qualification: titles that are free to those who qualify",
    "qualification-example": "A worked example of qualification: a free title and its audit",
    "finance": "For finance: bills, tax, payments and the journal, from the first day",
    "billing-example": "A worked example of billing: every figure by hand",
    "documents": "Documents: templates of invoices, receipts and credit notes",
    "bank-files": "Bank files: from the download of the bank to booked payments",
    "automatic-renewal": "Automatic renewal: consents, announcements and orders",
    "mail": "Mail: invoices and other documents by e-mail, sent once, and bounces",
    "direct-debit": "Direct debit: mandates, files for the bank, and what comes back",
    "readers-pages": "The readers' pages: what readers do themselves, and what you set",
    "readers-pictures": "The readers' pages, in pictures",
    "console": "The console: the publisher's people work in a browser",
    "console-pages": "The pages of the console, in pictures",
    "upgrading": "Upgrading: to another version, and back",
    "postgresql": "PostgreSQL: roles, poolers, replicas, several machines",
    "patroni": "Failover with Patroni",
    "security": "Security: what is protected from whom, and how",
    "performance": "Performance: what has been measured",
    "reference": "Reference: operations, fields, files, settings, commands",
    "glossary": "Glossary: what the words mean",
    "architecture": "Architecture: for developers",
    "design-system": "The design system of the console: for developers",
    "rules": "Rules: how this service answers where the interface leaves a question open",
    "decisions": "Decisions: what could have been decided otherwise, and why it was not",
}
"""What each page is about, by the name of its file."""

_NOT_IN_A_HEADING = re.compile(r"[^\w\- ]")
_LINK = re.compile(r"(?:(?P<page>[a-z-]+)\.md)?(?P<rest>#.*)?")


def manual(request: Request) -> Response:
    """Return the list of the pages."""
    return _contents().respond(request)


def _page(name: str, request: Request) -> Awaitable[Response]:
    # The first request for a page takes 0.1 seconds, which is too long for the event loop.
    return asyncio.to_thread(_respond, name, request)


def _respond(name: str, request: Request) -> Response:
    return _rendered(name).respond(request)


@cache
def _contents() -> StaticPage:
    items = "".join(
        f'<li><a href="{{base}}manual/{name}">{escape(title)}</a></li>\n'
        for name, title in PAGES.items()
    )
    return _in_frame("User documentation", f"<h1>User documentation</h1>\n<ul>\n{items}</ul>\n")


@cache
def _rendered(name: str) -> StaticPage:
    """Return a page; raise HTTPException 404 if this installation lacks the file."""
    # The import takes 0.1 seconds, and most servers never show a page.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    try:
        text = _file(name).read_text(encoding="utf-8")
    except OSError:
        raise HTTPException(404, f"this installation lacks the page {name}") from None
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", _anchor(inline.content))
        for token in inline.children or ():
            _lead(token)
    return _in_frame(
        PAGES[name].partition(":")[0], parser.renderer.render(tokens, parser.options, {})
    )


def _file(name: str) -> Path:
    """Return the path of a file: in a package it is beside the code, in a checkout in docs."""
    package = Path(str(files("masthead")))
    packed = package / "manual" / f"{name}.md"
    return packed if packed.exists() else package.parents[1] / "docs" / f"{name}.md"


def _in_frame(title: str, html: str) -> StaticPage:
    frame = bytes_of("pages", "manual.html").decode()
    return StaticPage(frame.replace("{title}", escape(title)).replace("{text}", html))


def _anchor(heading: str) -> str:
    """Return the anchor that links in the files use for a heading."""
    return _NOT_IN_A_HEADING.sub("", heading.lower()).replace(" ", "-")


def _lead(token: "Token") -> None:
    """Point a link between files to the page; remove the target if the file is not a page.

    Replace an image, which an installation lacks, by its description.
    """
    if token.type == "image":
        token.type, token.tag = "text", ""
    target = str(token.attrGet("href") or "")
    if token.type != "link_open" or target.startswith(("http://", "https://")):
        return
    found = _LINK.fullmatch(target)
    if not found or (found["page"] and found["page"] not in PAGES):
        del token.attrs["href"]
    elif found["page"]:
        token.attrSet("href", f"{{base}}manual/{found['page']}{found['rest'] or ''}")


routes = [
    PublicRoute("/manual", "manual", manual),
    *(PublicRoute(f"/manual/{name}", "manual", partial(_page, name)) for name in PAGES),
]
"""The routes of the documentation, for GET and HEAD without credentials."""
