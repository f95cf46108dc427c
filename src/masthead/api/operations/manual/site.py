"""The user documentation as a static site: files that a browser reads without a server."""

from itertools import pairwise
from pathlib import Path

import msgspec

from masthead.api.operations.manual.pages import file_of, manual
from masthead.api.operations.manual.rendering import (
    SITE,
    contents_html,
    images,
    page_html,
    search_html,
)
from masthead.api.operations.manual.searching import index
from masthead.api.operations.static_files import bytes_of

_ASSETS = ("pages.css", "manual.js", "favicon.svg")


def write_site(folder: Path) -> int:
    """Write the pages, their pictures, and a search into a folder; return how many pages.

    The folder is made if there is none; files of the same names are replaced. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    html = {name: page_html(page, SITE) for name, page in manual().pages.items()}
    html |= {"index": contents_html(SITE), "search": search_html("", (), SITE)}
    for name, text in html.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    for name in _ASSETS:
        (folder / name).write_bytes(bytes_of("pages", name))
    (folder / "search-index.js").write_bytes(_index_script())
    for path in images():
        target = folder / "images" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file_of("images").joinpath(path).read_bytes())
    return len(html)


def _index_script() -> bytes:
    """Return the index as a script: a page that is a file cannot request JSON.

    A word has the distance of each section from the one before, and its score, in turns.
    """
    found = index()
    scores = {
        word: [
            part
            for before, number in pairwise([0, *scores])
            for part in (number - before, scores[number])
        ]
        for word, scores in found.scores.items()
    }
    return b"const searchIndex = %b;\n" % msgspec.json.encode(
        {"sections": [list(hit) for hit in found.sections], "scores": scores}
    )
