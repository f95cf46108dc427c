"""The log repeats nothing that a client sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, note
from hypothesis import strategies as st

from masthead.api.http.log_reasons import reason_of, shown_path
from masthead.api.http.parameters import read_parameters
from masthead.errors import BadInput
from masthead.http_server.client_address import client_address
from tests.api.conftest import DATA, NO_LIMITS
from tests.hostile.log_lines import PARAMETERS, REASONS, assert_lines_are_closed
from tests.hostile.requests import ALL, asked
from tests.hostile.test_requests import many
from tests.hostile.wire import Wire
from tests.servers import import_files, serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.contract.operations import Operation
    from tests.servers import Store

SECRET = "Canary7"
TEXT = st.text(max_size=20) | st.sampled_from([SECRET, f"{SECRET} is given twice", "limit", ""])
NAMES = st.sampled_from(sorted(PARAMETERS)) | TEXT


@given(
    operation=st.sampled_from(ALL),
    query=st.lists(st.tuples(NAMES, TEXT), max_size=3),
    body=st.binary(max_size=30) | st.sampled_from([b'{"%s": [1]}', b'{"%s": 1, "%s": 2}', b"{"]),
    name=NAMES,
)
def test_the_reason_of_bad_parameters_is_of_a_list(
    operation: Operation, query: list[tuple[str, str]], body: bytes, name: str
) -> None:
    """rules, "The reason of an error"."""
    encoded = "&".join(f"{key}={value}" for key, value in query).encode("utf-8", "surrogatepass")
    sent = body.replace(b"%s", name.encode("utf-8", "surrogatepass"))
    try:
        read_parameters(operation, encoded, sent)
    except BadInput as error:
        reason = reason_of(error, [parameter.name for parameter in operation.parameters])
        assert reason in REASONS


@given(path=st.lists(TEXT | st.sampled_from(["2", "v2", "orders", "a-b", "123", "Ä"])))
def test_an_unknown_path_is_shown_as_two_words(path: list[str]) -> None:
    """rules, "The reason of an error"."""
    shown = shown_path("/" + "/".join(path))
    segments = shown.split("/")[1:]
    assert len(segments) <= 3
    assert SECRET not in shown
    for segment in segments:
        assert segment == "*" or (len(segment) <= 32 and segment.isascii())
        assert segment == segment.lower()
        assert sum(map(str.isdigit, segment)) <= 2
    assert not segments[-1].isdigit() or len(segments) == 1


def test_what_is_shown_of_unknown_paths() -> None:
    """rules, "The reason of an error"."""
    wanted = {
        "/": "/",
        "/wp-login.php": "/wp-login.php",
        "/v2/orders/17/items": "/v2/orders/*",
        "/2/orders": "/2/orders",
        "/orders/17": "/orders/*",
        "/api/v2/orders": "/api/v2/*",
        "/subscribers/AB3DE": "/subscribers/*",
        "/ann@example.org/x": "/*/x",
        "/%61nn/x": "/*/x",
        "/123/x": "/*/x",
        f"/{'x' * 33}": "/*",
        "//x/y": "//x/*",
        "/readers/daniel.king": "/readers/*",
        "/.env": "/.env",
        "/robots.txt": "/robots.txt",
    }
    assert {path: shown_path(path) for path in wanted} == wanted


OWN, CLIENT = "10.0.0.9", "192.0.2.7"


def test_the_address_is_that_of_the_connection_unless_a_proxy_is_in_front() -> None:
    """rules, "The address of a client"."""
    headers = {b"x-forwarded-for": CLIENT.encode(), b"forwarded": b"for=192.0.2.8"}
    assert client_address((OWN, 1), headers) == OWN
    assert client_address((OWN, 1), headers, behind_proxy=True) == CLIENT
    assert client_address((OWN, 1), {}, behind_proxy=True) == OWN
    assert client_address(None, {}) is None


def test_the_last_address_that_is_not_of_loopback_is_the_clients() -> None:
    """rules, "The address of a client": what stands before it can be made up."""
    wanted = {
        "192.0.2.7": CLIENT,
        "made up, 192.0.2.7": CLIENT,
        "198.51.100.1, 192.0.2.7": CLIENT,
        "198.51.100.1 ,192.0.2.7,127.0.0.1, ::1": CLIENT,
        "192.0.2.7:4711": CLIENT,
        "[2001:DB8::1]:4711": "2001:db8::1",
        "2001:db8::1": "2001:db8::1",
        "::ffff:192.0.2.7": CLIENT,
        "198.51.100.1, unknown": OWN,
        "198.51.100.1, fe80::1%canary": OWN,
        "127.0.0.1": OWN,
        "": OWN,
        "1" * 10_000: OWN,
        "192.0.2.7.1": OWN,
    }
    for sent, address in wanted.items():
        found = client_address((OWN, 1), {b"x-forwarded-for": sent.encode()}, behind_proxy=True)
        assert found == address, sent


def test_the_standard_header_counts_where_the_other_one_is_not_given() -> None:
    """rules, "The address of a client"; RFC 7239, section 4.

    What a proxy quotes, such as the client's ``Host``, says nothing.
    """
    wanted = {
        "for=192.0.2.7": CLIENT,
        "For=192.0.2.7;proto=https;by=203.0.113.43": CLIENT,
        "proto=https; for=192.0.2.7": CLIENT,
        'for=198.51.100.1, for="192.0.2.7:4711"': CLIENT,
        'for="[2001:db8::1]:4711"': "2001:db8::1",
        "for=192.0.2.7, for=127.0.0.1": CLIENT,
        "for=198.51.100.1, for=unknown": OWN,
        "for=_hidden": OWN,
        "for=192.0.2.7;x-id2=a=b": CLIENT,
        "for=192.0.2.7;" + "a=b;" * 300: OWN,
        "by=192.0.2.7": OWN,
        "192.0.2.7": OWN,
        'for="198.51.100.1, for=192.0.2.7': CLIENT,
        'for=192.0.2.7;host="a, for=198.51.100.1;b"': OWN,
        'for=192.0.2.7;host="a, for=198.51.100.1";proto="https"': OWN,
        'for=192.0.2.7;host="a;for=198.51.100.1;b"': CLIENT,
        "for=192.0.2.7;host=a;for=198.51.100.1": OWN,
    }
    for sent, address in wanted.items():
        found = client_address((OWN, 1), {b"forwarded": sent.encode()}, behind_proxy=True)
        assert found == address, sent


@given(name=st.sampled_from([b"x-forwarded-for", b"forwarded"]), value=st.binary(max_size=80))
def test_any_header_gives_a_valid_address(name: bytes, value: bytes) -> None:
    """rules, "The address of a client"."""
    found = client_address((OWN, 1), {name: value}, behind_proxy=True)
    assert found
    assert set(found) <= set("0123456789abcdef.:")


def test_no_line_of_a_request_holds_what_was_sent(
    store: Store, cases: Callable[[float], int]
) -> None:
    """decisions, "What is logged": every line holds words of a list, numbers and addresses."""
    database = store.new_database("log")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    with serving(database, *NO_LIMITS, "--behind-proxy") as server:
        wire = Wire(server, "key-golden", "login-golden")
        count = 0

        @many(cases(0.1))
        @given(request=asked())
        def ask(request: Callable[[Wire], bytes]) -> None:
            nonlocal count
            sent = request(wire)
            note(repr(sent))
            wire.one(sent)
            count += 1

        ask()
        assert server.stop() == 0
        assert assert_lines_are_closed(server.output()) == count
