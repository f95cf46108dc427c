"""The files of a folder, each under a name with a digest of its content.

A name is used for one content only, so browsers keep the file for a year (decisions, "Names of
static files").
"""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_DIGEST_CHARACTERS = 12


class _File(NamedTuple):
    content: bytes
    media_type: str


class StaticFiles:
    """The files of a folder, which is read at the first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, name: str) -> str:
        """Return the URL path of a file: ``/static/console.3f2a9c1b0d4e.css``."""
        return f"/static/{self._served[0][name]}"

    async def respond(self, request: Request) -> Response:
        """Return the file; raise HTTPException 404 for a name without digest or with another."""
        found = self._served[1].get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        kept = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(found.content, media_type=found.media_type, headers=kept)

    @cached_property
    def _served(self) -> tuple[dict[str, str], dict[str, _File]]:
        """The served name of each file, and the file of each served name.

        A stylesheet names fonts as the files are called; these names get their digests first.
        """
        names: dict[str, str] = {}
        files: dict[str, _File] = {}
        served = [path for path in self.folder.iterdir() if path.suffix in _MEDIA_TYPES]
        for path in sorted(served, key=lambda path: path.suffix == ".css"):
            content = path.read_bytes()
            if path.suffix == ".css":
                for name, hashed in names.items():
                    content = content.replace(
                        f'url("{name}")'.encode(), f'url("{hashed}")'.encode()
                    )
            digest = hashlib.sha256(content).hexdigest()[:_DIGEST_CHARACTERS]
            names[path.name] = f"{path.stem}.{digest}{path.suffix}"
            files[names[path.name]] = _File(content, _MEDIA_TYPES[path.suffix])
        return names, files
