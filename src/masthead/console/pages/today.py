"""Today: what the day asks for."""

from starlette.responses import Response

from masthead.console.visit import Visit, get

__all__ = ["pages"]


def today(visit: Visit) -> Response:
    """Show the day."""
    return visit.page("today")


pages = [get("/", today)]
