"""The description of the interface for programs and people: /openapi.json and /docs.

The page shows the document in Swagger UI, which can send requests. All its files come from this
server: ``swagger_ui`` holds the unchanged files of a Swagger UI release, ``pages`` our own files.
"""

from html import escape

import msgspec

from masthead.api.http.credentials import Credentials
from masthead.api.http.routing import PublicRoute
from masthead.api.operations.static_files import StaticFile, StaticPage, bytes_of
from masthead.contract.openapi import document

_ASSETS = {
    "swagger-ui-bundle.js": "js",
    "swagger-ui.css": "css",
    "LICENSE": "txt",
    "NOTICES": "txt",
}
_DEMO = """\
<div class="notice"><p>This is a demo with the data of a made-up publisher. Its credentials:
<code>api_key</code> <b>{key}</b>, <code>api_login</code> <b>{login}</b>
<button id="use-demo" type="button" data-key="{key}" data-login="{login}">Use them</button></p>
</div>
"""


def routes(demo: Credentials | None) -> list[PublicRoute]:
    """Return the routes of the description, for GET and HEAD without credentials.

    ``demo`` are the credentials of a demo, which the page shows and can fill in.
    """
    notice = _DEMO.format(key=escape(demo[0]), login=escape(demo[1])) if demo else ""
    page = StaticPage(bytes_of("pages", "docs.html").decode().replace("{demo}", notice))
    description = StaticFile(msgspec.json.encode(document()), "json")
    script = StaticFile(bytes_of("pages", "docs.js"), "js")
    assets = {
        name: StaticFile(bytes_of("swagger_ui", name), kind) for name, kind in _ASSETS.items()
    }
    return [
        PublicRoute("/openapi.json", "openapi", description.respond),
        PublicRoute("/docs", "docs", page.respond),
        PublicRoute("/docs/docs.js", "docs", script.respond),
        *(
            PublicRoute(f"/docs/assets/{name}", "docs", file.respond)
            for name, file in assets.items()
        ),
    ]
