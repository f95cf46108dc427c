"""Files for browsers, which do not change while the server runs.

All links in pages are relative, so that they also work behind a proxy that adds a prefix.
"""

import hashlib
from importlib.resources import files

from starlette.responses import Response

from masthead.api.http.request import Request
from masthead.api.http.responses import headers_of

_MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "webp": "image/webp",
}
_HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}


class StaticFile:
    """A file that does not change while the server runs; a client that has cached it gets 304.

    ``kind`` is a file name's ending, such as ``html``. ``vary`` names the header of requests that
    decides whether this file is the response.
    """

    def __init__(self, body: bytes, kind: str, *, vary: str | None = None) -> None:
        self._body = body
        self._tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        self._headers = {**_HEADERS, "Content-Type": _MEDIA_TYPES[kind], "ETag": self._tag}
        if vary:
            self._headers["Vary"] = vary

    def respond(self, request: Request) -> Response:
        """Return the file, or 304 if the request has its ETag (RFC 9110, If-None-Match)."""
        headers = headers_of(self._headers)
        known = request.headers.get("If-None-Match", "")
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        if known == "*" or self._tag in tags:
            return Response(None, 304, headers)
        return Response(self._body, 200, headers)


class StaticPage:
    """A page of HTML, in which ``{base}`` stands for the relative path to the server's root.

    That path depends on the request: each page is served with and without a trailing slash.
    """

    def __init__(self, html: str, *, vary: str | None = None) -> None:
        self._html = html
        self._vary = vary
        self._files: dict[int, StaticFile] = {}

    def respond(self, request: Request) -> Response:
        """Return the page for the path as the browser sees it."""
        depth = request.raw_path.count("/") - 1
        if depth not in self._files:
            html = self._html.replace("{base}", "../" * depth or "./")
            self._files[depth] = StaticFile(html.encode(), "html", vary=self._vary)
        return self._files[depth].respond(request)


def bytes_of(folder: str, name: str) -> bytes:
    """Return a file of a folder beside this module; raises OSError if it is not there."""
    return files("masthead.api.operations").joinpath(folder, name).read_bytes()
