"""The publisher's part of the look: a stylesheet, the logo and the icon.

They are pages of the site, since no page has styles of its own. Browsers keep them for an hour.
"""

from starlette.responses import Response

from masthead.errors import NotFound
from masthead.readers import look
from masthead.readers.page_request import PageRequest, open_get

_KEPT = {"Cache-Control": "public, max-age=3600"}


def stylesheet(request: PageRequest) -> Response:
    """Return the stylesheet with the publisher's colours."""
    return Response(look.stylesheet(request.settings.colour), media_type="text/css", headers=_KEPT)


def logo(request: PageRequest) -> Response:
    """Return the logo. Raises NotFound if the publisher has none."""
    found = look.logo(request.settings.logo)
    if found is None:
        raise NotFound("the publisher has no logo")
    return Response(found.content, media_type=found.media_type, headers=_KEPT)


def icon(request: PageRequest) -> Response:
    """Return the icon of the site."""
    made = look.icon(request.settings.name, request.settings.colour)
    return Response(made, media_type="image/svg+xml", headers=_KEPT)


pages = [
    open_get("look.css", stylesheet),
    open_get("logo", logo),
    open_get("icon.svg", icon),
]
