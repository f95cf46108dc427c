"""Answers that are not whole, not right or not to be kept: the copy stays as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import (
    MastheadError,
    ServiceError,
    ServiceUnreachable,
    StoreUnavailable,
    TooManyRequests,
    UnexpectedResponse,
)
from tests.client.service import HANGS_UP, Asked, Reply, Serve, Service, forwarding, refused
from tests.conftest import KINDS
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

CHANGES, ENTRIES, FIELDS = "/2/cdc", "/2/downloadmailinglist/1/", "/2/customfields/"


class Proxy:
    """Stands before the service, and breaks what a test names."""

    def __init__(self, publisher: Publisher, serve: Serve) -> None:
        self._pass_on = forwarding(publisher.url, "")
        self._breaking: dict[str, Callable[[Reply], Reply]] = {}
        self.service: Service = serve(self._answer)
        self.publisher = publisher.behind(self.service.url)

    def breaks(self, path: str, how: Callable[[Reply], Reply]) -> None:
        """Break the responses of that path from now on."""
        self._breaking = {path: how}

    def heal(self) -> None:
        """Break nothing any more."""
        self._breaking = {}

    def _answer(self, asked: Asked) -> Reply:
        plain = replace(asked, headers={**asked.headers, "accept-encoding": "identity"})
        whole = self._pass_on(plain)
        how = self._breaking.get(asked.path)
        return how(whole) if how else whole


@pytest.fixture
def proxy(publisher: Publisher, serve: Serve) -> Proxy:
    """A publisher behind a proxy."""
    return Proxy(publisher, serve)


def changed(publisher: Publisher) -> None:
    """Make a change that a pass needs all kinds of responses for."""
    publisher.load(
        subscribers=[{"subscriber_id": 1, "first_name": "Renamed"}],
        custom_fields=[{"field_id": 1, "display_as": "Renamed"}],
        mailing_list_entries=[{"mailing_list_id": 1, "subscription_id": 2, "copies": 2}],
    )


def cut(whole: Reply) -> Reply:
    """Leave out the second half."""
    assert isinstance(whole.body, bytes)
    body = whole.body[: len(whole.body) // 2]
    return Reply([body], headers=whole.headers, is_cut=True)


def half(whole: Reply) -> Reply:
    """Leave out the second half, and say that this is all."""
    assert isinstance(whole.body, bytes)
    return Reply([whole.body[: len(whole.body) // 2]], headers=whole.headers)


BROKEN: dict[str, tuple[Callable[[Reply], Reply], type[MastheadError]]] = {
    "cut": (cut, ServiceUnreachable),
    "half a response": (half, UnexpectedResponse),
    "no response": (lambda _: HANGS_UP, ServiceUnreachable),
    "overloaded": (lambda _: refused(503), ServiceUnreachable),
    "too many requests": (lambda _: refused(429), TooManyRequests),
    "a fault": (lambda _: refused(500), ServiceError),
    "a refusal": (lambda _: refused(403), ServiceError),
    "another form": (
        lambda whole: Reply('{"data": []}', headers=whole.headers),
        UnexpectedResponse,
    ),
}


@ONLY_LONG
@pytest.mark.parametrize("path", [CHANGES, ENTRIES, FIELDS, "/2/accounts/"])
@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_what_breaks_leaves_the_copy_as_it_was(proxy: Proxy, kept: Kept, path: str) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(proxy.publisher)
    before = kept.everything()
    changed(proxy.publisher)
    for name, (how, error) in BROKEN.items():
        proxy.breaks(path, how)
        with pytest.raises(error) as failure:
            kept.update(proxy.publisher)
        assert proxy.publisher.login not in str(failure.value)
        assert kept.everything() == before, name
    proxy.heal()
    assert kept.update(proxy.publisher).records > 0
    assert kept.differences(proxy.publisher) == []


@pytest.mark.parametrize("how", ["cut", "half a response", "overloaded", "too many requests"])
def test_a_beginning_that_breaks_leaves_no_copy(proxy: Proxy, kept: Kept, how: str) -> None:
    """rules, "Mirror: a pass"; "Mirror: services without a snapshot": this one has one."""
    proxy.breaks("/snapshot", BROKEN[how][0])
    with pytest.raises(BROKEN[how][1]):
        kept.update(proxy.publisher)
    assert not any(kept.everything().values())
    proxy.heal()
    kept.update(proxy.publisher)
    assert kept.differences(proxy.publisher) == []


def test_a_reload_that_breaks_leaves_the_copy_as_it_was(proxy: Proxy, kept: Kept) -> None:
    """rules, "Mirror: a pass": after 410 too, all of it is one transaction."""
    kept.update(proxy.publisher)
    kept.run("UPDATE mirror SET changed_since = '2026-01-01T00:00:00+00:00'")
    before = kept.everything()
    proxy.breaks("/snapshot", cut)
    with pytest.raises(ServiceUnreachable):
        kept.update(proxy.publisher)
    assert kept.everything() == before


def with_address(**values: Any) -> Callable[[Reply], Reply]:
    """Put a record into the response of the feed."""

    def answer(whole: Reply) -> Reply:
        assert isinstance(whole.body, bytes)
        content = json.loads(whole.body)
        address = {"address_id": "77", "subscriber_id": "1", **values}
        others = [a for a in content["addresses"] if a["address_id"] != address["address_id"]]
        content["addresses"] = [*others, address]
        return Reply(json.dumps(content), headers=whole.headers)

    return answer


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_reload_keeps_the_rows_of_what_is_odd_in_it(proxy: Proxy, kept: Kept) -> None:
    """decisions, "Odd records of other services": with the time since when they are so."""
    kept.update(proxy.publisher)
    row = kept.ask("SELECT * FROM addresses WHERE address_id = 1")
    kept.run("UPDATE mirror SET changed_since = '2026-01-01T00:00:00+00:00'")
    proxy.breaks("/snapshot", with_address(address_id="1", verified="perhaps"))
    done = kept.update(proxy.publisher)
    assert done.full_load
    assert [odd[:3] for odd in done.new_aside] == [("addresses", "1", "verified")]
    assert kept.ask("SELECT * FROM addresses WHERE address_id = 1") == row
    proxy.breaks("/snapshot", with_address(verified="perhaps"))
    verified = kept.verify(proxy.publisher)
    assert (verified.differences, len(verified.set_aside)) == ([], 1)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_header_without_a_time_is_not_kept(proxy: Proxy, kept: Kept) -> None:
    """rules, "Mirror: a pass": the time to ask for next is written with the records."""
    kept.update(proxy.publisher)
    before = kept.everything()
    for text in ("soon", "2026-11-21T10:00:00"):
        header = {"Masthead-Changes-Through": text}
        proxy.breaks(CHANGES, partial(replace, headers=header))
        with pytest.raises(MastheadError, match="no time"):
            kept.update(proxy.publisher)
        assert kept.everything() == before


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize("new_kept", KINDS, indirect=True)
def test_what_the_database_says_of_a_record_is_not_repeated(
    publisher: Publisher, kept: Kept
) -> None:
    """decisions, "What is logged"."""
    kept.update(publisher)
    rule = "BEFORE INSERT ON subscribers"
    if kept.kind == "sqlite":
        kept.run(f"CREATE TRIGGER no {rule} BEGIN SELECT raise(ABORT, 'not so'); END")
    else:
        kept.run("ALTER TABLE subscribers ADD CHECK (first_name <> 'Secretly')")
    publisher.load(subscribers=[{"subscriber_id": 1, "first_name": "Secretly"}])
    with pytest.raises(StoreUnavailable, match="the copy cannot be used") as failure:
        kept.update(publisher)
    assert "Secretly" not in str(failure.value)
