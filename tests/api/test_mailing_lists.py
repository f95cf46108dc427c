"""Operation 10: the download of a mailing list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.callers import error_of

if TYPE_CHECKING:
    from tests.api.callers import Caller

PATH = "/2/downloadmailinglist/81/"


@pytest.mark.parametrize("value", ["true", "True", "1"])
def test_a_download_is_an_attachment_with_the_same_body(golden: Caller, value: str) -> None:
    """rules, "Download of a mailing list"."""
    response = golden.ask(PATH, download=value)
    assert response.status_code == 200
    assert response.headers["Content-Disposition"].split(";")[0] == "attachment"
    assert response.headers["Content-Type"] == "application/json"
    assert response.content.decode() == golden.answer(PATH)


@pytest.mark.parametrize("value", ["false", "0"])
def test_without_download_it_is_no_attachment(golden: Caller, value: str) -> None:
    """rules, "Download of a mailing list"."""
    for response in (golden.ask(PATH), golden.ask(PATH, download=value)):
        assert response.status_code == 200
        assert "Content-Disposition" not in response.headers


def test_the_sample_request_of_the_interface_is_understood(golden: Caller) -> None:
    """interface, operation 10: an array holding one object ``{download: "true"}``."""
    response = golden.ask_with_body(PATH, [{"download": "true"}])
    assert response.headers["Content-Disposition"].split(";")[0] == "attachment"
    assert response.content.decode() == golden.answer(PATH)


@pytest.mark.parametrize("value", ["", "yes", "2"])
def test_download_is_a_boolean(golden: Caller, value: str) -> None:
    """interface, operation 10; rules, "Booleans"."""
    assert "download" in error_of(golden.ask(PATH, download=value), 400)


@pytest.mark.parametrize("list_id", ["081", "0", "abc", "31", "9223372036854775808", "-81"])
def test_an_unknown_list_is_not_found(golden: Caller, list_id: str) -> None:
    """rules, "Download of a mailing list": a ``mailing_list_id``; "Ids in paths"."""
    assert golden.refusal(404, f"/2/downloadmailinglist/{list_id}/")
