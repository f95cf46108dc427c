"""The description of the interface for programs and people: /openapi.json and /docs.

The page shows the document in Swagger UI and lets requests be tried. All that it loads comes from
this server: Swagger UI's files are read from the package that brings them, which is located and
never imported (its Python part belongs to another web framework). All links are relative, so that
the page also works behind a proxy that adds a prefix.
"""

import hashlib
from importlib.util import find_spec
from pathlib import Path

import msgspec
from starlette.datastructures import Headers
from starlette.types import Scope

from masthead.api.http.responses import Answer
from masthead.api.http.routing import Route
from masthead.api.http.service import Service
from masthead.contract.openapi import document

__all__ = ["routes"]

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Masthead: the interface</title>
<link rel="stylesheet" href="{docs}assets/swagger-ui.css">
<link rel="icon" type="image/png" sizes="32x32" href="{docs}assets/favicon-32x32.png">
</head>
<body>
<div id="interface"></div>
<noscript><p>This page needs JavaScript. The description itself is
<a href="{docs}../openapi.json">openapi.json</a>.</p></noscript>
<footer class="swagger-ui"><div class="wrapper"><p>
<a href="{docs}../openapi.json">openapi.json</a> ·
shown by Swagger UI, <a href="{docs}assets/LICENSE">its licence</a></p></div></footer>
<script src="{docs}assets/swagger-ui-bundle.js"></script>
<script src="{docs}initialiser.js"></script>
</body>
</html>
"""
_INITIALISER = """\
SwaggerUIBundle({
  url: new URL("../openapi.json", document.currentScript.src).href,
  dom_id: "#interface",
  tryItOutEnabled: true,
  validatorUrl: null,
});
"""
_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "favicon-32x32.png": "image/png",
    "LICENSE": "text/plain; charset=utf-8",
}
_HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}


class _File:
    """Bytes that stay the same while the server runs; a client that has them gets 304."""

    def __init__(self, body: bytes, media_type: str) -> None:
        self._body = body
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        self._headers = {**_HEADERS, "Content-Type": media_type, "ETag": tag}
        self._tag = tag

    def answer(self, scope: Scope, _path_id: int | None, _service: Service) -> Answer:
        """Return the file, or 304 where the request names its ETag (RFC 9110, If-None-Match)."""
        known = Headers(scope=scope).get("If-None-Match", "")
        if known == "*" or self._tag in (
            tag.strip().removeprefix("W/") for tag in known.split(",")
        ):
            return Answer(None, 304, self._headers)
        return Answer(self._body, headers=self._headers)


def _assets() -> dict[str, _File]:
    """Return Swagger UI's files that the page loads, and their licence.

    Raises ModuleNotFoundError where the package that brings them is not installed.
    """
    package = find_spec("flask_swagger_ui")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("flask-swagger-ui, whose files /docs shows, is not installed")
    folder = Path(package.origin).parent / "dist"
    return {name: _File((folder / name).read_bytes(), kind) for name, kind in _ASSETS.items()}


_description = _File(msgspec.json.encode(document()), "application/json")
_initialiser = _File(_INITIALISER.encode(), "text/javascript; charset=utf-8")
_pages = {
    docs: _File(_PAGE.format(docs=docs).encode(), "text/html; charset=utf-8")
    for docs in ("docs/", "")
}


def _answer_page(scope: Scope, path_id: int | None, service: Service) -> Answer:
    """Answer the page; its links are relative to the path as the browser sees it."""
    with_slash = scope["raw_path"].endswith(b"/")
    return _pages["" if with_slash else "docs/"].answer(scope, path_id, service)


routes = [
    Route("/openapi.json", "openapi", _description.answer),
    Route("/docs", "docs", _answer_page),
    Route("/docs/initialiser.js", "docs", _initialiser.answer),
    *(Route(f"/docs/assets/{name}", "docs", file.answer) for name, file in _assets().items()),
]
"""Where the description is served, without credentials; GET and HEAD."""
