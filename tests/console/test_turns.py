"""Turns: sign-ins and saves wait for a limited time, and take no place from others."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pytest
from starlette.requests import ClientDisconnect, Request

from masthead import log
from masthead.console import app
from masthead.databases import sqlite
from masthead.store import passwords, postgresql
from masthead.web import turns
from tests.console.browser import PASSWORD, SIGN_IN, input_values, serving_console
from tests.hostile.wire import answers_in
from tests.long import ON_BOTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2
    from starlette.types import Message

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

EDIT = "/subscribers/20/edit"


class Hashing:
    """Compares passwords only while it may; counts those whose turn has come."""

    def __init__(self) -> None:
        self.hash = passwords.HASHER.hash
        self.may_go_on = threading.Event()
        self.has_begun = threading.Event()
        self.passwords: list[str] = []
        self._verify = passwords.HASHER.verify

    def verify(self, hashed: str, password: str) -> bool:
        self.passwords.append(password)
        self.has_begun.set()
        assert self.may_go_on.wait(60)
        return self._verify(hashed, password)


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hashing]:
    found = Hashing()
    monkeypatch.setattr(passwords, "HASHER", found)
    yield found
    found.may_go_on.set()


@pytest.fixture
def proxied(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Console, list[turns.Turns]]]:
    """A console behind a proxy, which names the client's address, and its queues."""
    made: list[turns.Turns] = []

    class Noted(turns.Turns):
        def __init__(self, at_once: int, **limits: float) -> None:
            super().__init__(at_once, **limits)  # type: ignore[arg-type]
            made.append(self)

    monkeypatch.setattr(app, "Turns", Noted)
    with serving_console(desk.store, behind_proxy=True) as console:
        yield console, made


def sign_in(console: Console, address: str, name: str = "") -> socket.socket:
    """Send a sign-in from an address, without a name a wrong one; return its connection."""
    password = PASSWORD if name else "a wrong guess"
    body = urlencode({"account": "1", "name": name or "x", "password": password}).encode()
    place = urlsplit(console.url)
    client = socket.create_connection((place.hostname, place.port), 60)
    client.sendall(
        b"POST %s HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nX-Forwarded-For: %s\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%s"
        % (SIGN_IN.encode(), address.encode(), len(body), body)
    )
    return client


def answer(client: socket.socket) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of the answer."""
    received = b""
    with client:
        while piece := client.recv(65_536):
            received += piece
    (found,) = answers_in(received)
    return found.status, dict(found.headers)


def until(is_true: object) -> None:
    """Wait until a condition is true: the console runs in another thread."""
    pause = threading.Event()
    assert callable(is_true)
    assert any(is_true() or pause.wait(0.005) for _ in range(6_000)), "it never is"


def test_a_sign_in_that_was_abandoned_leaves_its_place_and_is_not_compared(
    proxied: tuple[Console, list[turns.Turns]], hashing: Hashing
) -> None:
    """The attack: 80 that had gone made a real one wait for 33 seconds."""
    console, (signing_in, _) = proxied
    console.add("waiting")
    first = sign_in(console, "192.0.2.1")
    assert hashing.has_begun.wait(60)
    gone = [sign_in(console, f"192.0.2.{number % 4 + 1}") for number in range(28)]
    until(lambda: signing_in.waiting == 28)
    real = sign_in(console, "198.51.100.1", "waiting")
    until(lambda: signing_in.waiting == 29)
    for client in gone:
        client.close()
    until(lambda: signing_in.waiting == 1)
    hashing.may_go_on.set()
    assert answer(real)[0] == 303
    assert answer(first)[0] == 403
    assert len(hashing.passwords) == 2
    assert signing_in.waiting == 0


def test_a_client_that_has_gone_already_gets_no_free_turn() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    done: list[int] = []
    turns_ = turns.Turns(1, waiting_max=1, of_one_max=1, wait_s_max=1)
    gone = Request({"type": "http"}, receive)
    with pytest.raises(ClientDisconnect):
        asyncio.run(turns_.run(gone, "192.0.2.1", lambda: done.append(1)))
    assert not done


def test_an_address_has_few_places_and_another_one_comes_after_its_first(
    proxied: tuple[Console, list[turns.Turns]], hashing: Hashing
) -> None:
    """decisions, "Turns of the console": here of one network of IPv6."""
    console, (signing_in, _) = proxied
    console.add("patient")
    clients = [sign_in(console, "2001:db8::1")]
    assert hashing.has_begun.wait(60)
    for number in range(10):
        clients.append(sign_in(console, f"2001:db8::{number + 2:x}"))
        until(lambda waiting=number + 1: signing_in.waiting == waiting)
    status, headers = answer(sign_in(console, "2001:db8::ffff"))
    assert status == 503
    assert headers["retry-after"] == "5"
    other = sign_in(console, "2001:db8:0:1::1", "patient")
    until(lambda: signing_in.waiting == 11)
    hashing.may_go_on.set()
    assert answer(other)[0] == 303
    assert hashing.passwords[:3] == ["a wrong guess", "a wrong guess", PASSWORD]
    for client in clients:
        client.close()


def test_few_addresses_that_fill_the_queue_keep_no_other_one_out(
    proxied: tuple[Console, list[turns.Turns]], hashing: Hashing
) -> None:
    """decisions, "Turns of the console": the newest place of the address with the most is taken."""
    console, (signing_in, _) = proxied
    console.add("keen")
    clients = [sign_in(console, "192.0.2.1")]
    assert hashing.has_begun.wait(60)
    for number in range(30):
        clients.append(sign_in(console, f"192.0.2.{number % 3 + 1}"))
        until(lambda waiting=number + 1: signing_in.waiting == waiting)
    keen = sign_in(console, "192.0.2.9", "keen")
    assert answer(clients[28])[0] == 503
    assert signing_in.waiting == 30
    hashing.may_go_on.set()
    assert answer(keen)[0] == 303
    for client in clients:
        client.close()


def test_a_queue_refuses_when_it_is_full_and_after_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, hashing: Hashing
) -> None:
    limits = {"at_once": 1, "waiting_max": 1, "of_one_max": 1, "wait_s_max": 1}
    monkeypatch.setattr(app, "_SIGN_INS", limits)
    with serving_console(desk.store) as console:
        first = sign_in(console, "")
        assert hashing.has_begun.wait(60)
        refused = console.browser().sign_in("clerk", account="1", next="/find?q=x")
        assert refused.status_code == 503
        assert "Too many people sign in at this moment" in refused.text
        assert input_values(refused.text)["next"] == "/find?q=x"
        assert PASSWORD not in refused.text
        assert refused.headers["Retry-After"] == "5"
        hashing.may_go_on.set()
        assert answer(first)[0] == 403


@ON_BOTH
def test_saves_that_wait_for_a_writer_stop_neither_search_nor_sign_in_and_say_so(
    console: Console, desk: Desk, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """The attack: 45 of them held all threads. Here they wait for a second in place of five.

    That is long enough for the others to come meanwhile on a busy machine, and find no place.
    """
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 1_000)
    monkeypatch.setattr(postgresql, "LOCK_TIMEOUT", "1s")
    browser = console.signed_in("clerk")
    form = {**input_values(browser.get(EDIT).text), "first_name": "Typed <b> é"}

    def save(_number: int) -> httpx2.Response:
        return _own(console, browser).post(EDIT, form, token=form["form_token"])

    with (
        ThreadPoolExecutor(45) as threads,
        desk.store.writer() as database,
        database.transaction(),
    ):
        database.lock_account(1)
        saves = [threads.submit(save, number) for number in range(45)]
        assert browser.get("/find", q="Reader").status_code == 200
        assert console.browser().sign_in("viewer", account="1").status_code == 303
        answers = [each.result() for each in saves]
    assert {each.status_code for each in answers} == {503}
    busy = [each for each in answers if "Another program writes to the database" in each.text]
    others = [each for each in answers if "Too many others are saving" in each.text]
    assert busy
    assert others
    assert len(busy) + len(others) == 45
    log.end_logs()
    assert "event='the database is busy'" in "".join(log_lines)
    for said in (busy[0], others[0]):
        assert said.headers["Retry-After"] == "5"
        assert '<form class="search"' in said.text, "the page has its head"
        assert input_values(said.text)["first_name"] == "Typed <b> é"
        assert f'action="{EDIT}"' in said.text
        assert ">Try again<" in said.text
    kept = input_values(busy[0].text)
    again = browser.post(EDIT, kept, token=kept["form_token"])
    assert again.status_code == 303
    (row,) = desk.rows(
        "SELECT first_name FROM subscribers WHERE account_id = :account_id AND subscriber_id = 20"
    )
    assert row[0] == "Typed <b> é"


def _own(console: Console, browser: Browser) -> Browser:
    """Return a browser with a connection of its own and the same session."""
    own = console.browser()
    own.client.cookies.update(browser.client.cookies)
    return own
