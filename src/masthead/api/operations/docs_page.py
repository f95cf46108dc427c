"""The description of the interface for programs and people: /openapi.json and /docs.

The page shows the document in Swagger UI, where requests can be tried. All its files come from this
server: ``swagger_ui`` holds the unchanged files of a Swagger UI release. All links are relative, so
that the page also works behind a proxy that adds a prefix.
"""

import hashlib
from importlib.resources import files

import msgspec
from starlette.responses import Response

from masthead.api.http.request import Request
from masthead.api.http.responses import headers_of
from masthead.api.http.routing import Route
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
    """A file that does not change while the server runs; a client that has cached it gets 304."""

    def __init__(self, body: bytes, media_type: str) -> None:
        self._body = body
        self._tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        self._headers = {**_HEADERS, "Content-Type": media_type, "ETag": self._tag}

    def respond(self, request: Request) -> Response:
        """Return the file, or 304 if the request has its ETag (RFC 9110, If-None-Match)."""
        headers = headers_of(self._headers)
        known = request.headers.get("If-None-Match", "")
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        if known == "*" or self._tag in tags:
            return Response(None, 304, headers)
        return Response(self._body, 200, headers)


_description = _File(msgspec.json.encode(document()), "application/json")
_initialiser = _File(_INITIALISER.encode(), "text/javascript; charset=utf-8")
_page_with_slash = _File(_PAGE.format(docs="").encode(), "text/html; charset=utf-8")
_page = _File(_PAGE.format(docs="docs/").encode(), "text/html; charset=utf-8")
_assets = {
    name: _File(files("masthead.api.operations").joinpath("swagger_ui", name).read_bytes(), type_)
    for name, type_ in _ASSETS.items()
}


def docs(request: Request) -> Response:
    """Return the page; its links are relative to the path as the browser sees it."""
    page = _page_with_slash if request.raw_path.endswith("/") else _page
    return page.respond(request)


routes = [
    Route("/openapi.json", "openapi", _description.respond),
    Route("/docs", "docs", docs),
    Route("/docs/initialiser.js", "docs", _initialiser.respond),
    *(Route(f"/docs/assets/{name}", "docs", file.respond) for name, file in _assets.items()),
]
"""The paths of the description, without credentials; GET and HEAD."""
