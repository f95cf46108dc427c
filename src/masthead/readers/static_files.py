"""The static files of the readers' pages; those of a publisher are pages (``pages.look``)."""

from pathlib import Path

from masthead.web.static_files import StaticFiles

FILES = StaticFiles(Path(__file__).parent / "static")
static = FILES.url
