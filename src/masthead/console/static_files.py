"""The console's static files."""

from pathlib import Path

from masthead.web.static_files import StaticFiles

FILES = StaticFiles(Path(__file__).parent / "static")
static = FILES.url
