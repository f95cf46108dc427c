"""Requests that are refused before they reach their page, and what such a page keeps."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from masthead.web.kept_input import NOT_TYPED

AGAIN_S = 5
"""The seconds after which a browser may try again what was refused because of others."""


class Refused(Exception):
    """A request that is refused before it reaches its page; carries the response."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def retry(response: Response) -> Response:
    """Return the response with the time after which to try again."""
    response.headers["Retry-After"] = str(AGAIN_S)
    return response


def values_of(title: str, sentence: str, form: Mapping[str, str], again: str) -> dict[str, Any]:
    """Return the values of a page that says what is wrong and keeps the input of ``form``.

    ``again`` is the path to send the same form to again; '' if that is of no use.
    """
    return {
        "title": title,
        "sentence": sentence,
        "typed": {name: text for name, text in form.items() if name not in NOT_TYPED and text},
        "hidden": {name: text for name, text in form.items() if name in NOT_TYPED},
        "again": again,
    }
