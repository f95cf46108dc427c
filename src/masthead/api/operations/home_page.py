"""The page at /, which tells a browser what this server is, and the files that all pages share.

The page is not for programs: without ``text/html`` in ``Accept``, the response is 404, as for any
path that is not served (rules, "The page at /").
"""

from html import escape

from starlette.exceptions import HTTPException
from starlette.responses import Response

from masthead import __version__
from masthead.api.http.credentials import Credentials
from masthead.api.http.request import Request
from masthead.api.http.routing import NO_SUCH_PATH, PublicRoute
from masthead.api.operations.static_files import StaticFile, StaticPage, bytes_of

_DEMO = """\
<h2>This is a demo</h2>
<p>It serves the data of a made-up publisher, Harbour Lane Press, with ten days of history. Its
credentials are the <code>api_key</code> <b>{key}</b> and the <code>api_login</code> <b>{login}</b>;
the <a href="{{base}}docs">page of the interface</a> can fill them in.</p>
"""


def routes(demo: Credentials | None) -> list[PublicRoute]:
    """Return the routes of the page, without credentials; ``demo`` are a demo's credentials."""
    notice = _DEMO.format(key=escape(demo[0]), login=escape(demo[1])) if demo else ""
    html = bytes_of("pages", "home.html").decode().replace("{demo}", notice)
    page = StaticPage(html.replace("{version}", escape(__version__)), vary="Accept")

    def home(request: Request) -> Response:
        if "text/html" not in request.headers.get("Accept", "").lower():
            raise HTTPException(404, NO_SUCH_PATH, {"Vary": "Accept"})
        return page.respond(request)

    icon = StaticFile(bytes_of("pages", "favicon.svg"), "svg")
    return [
        PublicRoute("/", "home", home),
        PublicRoute(
            "/pages.css", "home", StaticFile(bytes_of("pages", "pages.css"), "css").respond
        ),
        PublicRoute("/favicon.svg", "home", icon.respond),
        # Browsers request this one automatically, for instance with /openapi.json.
        PublicRoute("/favicon.ico", "home", icon.respond),
    ]
