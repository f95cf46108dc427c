"""Only a response gives access: the examples of the pages that decide about access.

Each runs as the page has it, against a service whose answers are those of a login that is locked,
of wrong credentials, of faults, and none (rules, "Client: 429").
"""

from __future__ import annotations

import re
import socket
import subprocess
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import ServiceError, TooManyRequests
from tests.client.service import HANGS_UP, SAYS_NOTHING, Reply, Serve, in_turn, refused
from tests.docs.pages import ROOT, blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead import Client
    from tests.client.flavours import Connect

PAGE = ROOT / "docs" / "integrator.md"
BASE = "http://127.0.0.1:8000"
LOCKED = refused(429, "too many wrong guesses at this login", Retry_After="900")
YES = (
    '{"authenticated": true, "subscribers": {"subscriber_id": "22", "subscriptions": '
    '[{"subscription_id": "28", "publication_id": "2", "issues_left": "3"}]}}'
)
NO_ANSWERS = {
    "locked login": LOCKED,
    "locked login, and yes in its body": Reply(YES, 429, {"Retry-After": "900"}),
    "401": refused(401),
    "403": refused(403),
    "500": refused(500),
    "502 of a proxy": Reply("<h1>Bad gateway</h1>", 502),
    "503": refused(503, Retry_After="900"),
    "504, and yes in its body": Reply(YES, 504),
    "no JSON": Reply("yes"),
    "an answer that breaks off": Reply(YES, is_cut=True),
    "an answer without an end": Reply(YES[:-2]),
    "hangs up": HANGS_UP,
    "says nothing": SAYS_NOTHING,
}
each_answer = pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS.keys())


def test_the_examples_are_all_that_decide_about_access() -> None:
    """A new one is to be added here."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    found = {
        (page.name, language)
        for page in pages
        if page.name not in {"decisions.md", "reference.md", "rules.md"}
        for language in ("python", "php", "sh", "console")
        for block in blocks_of(page, language)
        if "authenticate" in block.commands
    }
    assert found == {("integrator.md", "python"), ("integrator.md", "php"), ("integrator.md", "sh")}


@contextmanager
def paywall(url: str, *, timeout_s: float = 20.0) -> Iterator[Callable[[int, str, str], bool]]:
    """Yield the page's ``may_read``, with the base URL and other times."""
    (source,) = (
        block.commands.partition("\n")[2].rpartition("END")[0]
        for block in blocks_of(PAGE, "python")
        if "def may_read" in block.commands
    )
    source = source.partition("\nprint(may_read")[0].replace(BASE, url)
    source = re.sub(
        r"timeout_s=\d+, patience_s=\d+", f"timeout_s={timeout_s}, patience_s=0", source
    )
    names: dict[str, Any] = {}
    exec(compile(source, PAGE.name, "exec"), names)
    with names["press"]:
        yield names["may_read"]


def look_ups() -> str:
    """Return the page's look-ups in Python."""
    (source,) = (
        block.commands.partition("\n")[2].rpartition("END")[0]
        for block in blocks_of(PAGE, "python")
        if "reader.first_name if reader" in block.commands
    )
    return source


def test_the_paywall_opens_for_a_reader(serve: Serve) -> None:
    with paywall(serve(in_turn(Reply(YES))).url) as may_read:
        assert may_read(2, "ann@reader.example", "secret")
        assert not may_read(3, "ann@reader.example", "secret")


@each_answer
def test_the_paywall_denies_without_an_answer(serve: Serve, answer: Reply) -> None:
    with paywall(serve(in_turn(answer)).url, timeout_s=0.3) as may_read:
        assert may_read(2, "ann@reader.example", "secret") is False


def test_the_paywall_denies_when_the_service_is_gone() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with paywall(f"http://127.0.0.1:{port}") as may_read:
        assert may_read(2, "ann@reader.example", "secret") is False


@each_answer
def test_the_look_ups_name_nobody_without_an_answer(
    serve: Serve, answer: Reply, capsys: pytest.CaptureFixture[str]
) -> None:
    url = serve(in_turn(answer)).url
    source = look_ups().replace(BASE, url)
    source = source.replace('"demo-login")', '"demo-login", timeout_s=0.3, patience_s=0)')
    with pytest.raises(ServiceError):
        exec(compile(source, PAGE.name, "exec"), {})
    assert not capsys.readouterr().out


@each_answer
def test_curl_prints_no_yes_without_an_answer(serve: Serve, answer: Reply) -> None:
    (script,) = (
        block.commands
        for block in blocks_of(PAGE, "sh")
        if block.commands.startswith("curl -sf") and "authenticate" in block.commands
    )
    url = serve(in_turn(answer)).url
    first = script.replace(BASE, url).replace("curl -sf", "curl -sf -m 0.3").split("\ncurl")[0]
    done = subprocess.run(["bash", "-c", first], capture_output=True, text=True, check=False)
    is_whole = done.returncode == 0 and done.stdout.rstrip().endswith("}}")
    assert not is_whole


def test_eleven_guesses_never_open_a_session(connect: Connect, masthead_url: str) -> None:
    """The lock of Masthead itself; the right password is not even tried."""
    client: Client = connect(masthead_url, "key-golden", "login-golden")
    said: list[object] = []
    for guess in range(12):
        try:
            said.append(client.authenticate("nobody-at-all@example.org", f"guess {guess}"))
        except TooManyRequests as error:
            said.append(error.retry_after_s)
            break
    assert said[-1]
