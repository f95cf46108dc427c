"""Compression of long answers: which coding a client gets, and that every one holds the same."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api.callers import Caller, RawAnswer
    from tests.api.conftest import Publisher, Publishers

KIB = 1_024
SIZES = {"short": (0, KIB), "medium": (KIB, 64 * KIB), "long": (64 * KIB, 512 * KIB)}
ENTITY = {"short": "orders", "medium": "purchases", "long": "addresses"}
LIST = {"short": 1, "medium": 101, "long": 102}
DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "zstd": zstd.decompress,
    "identity": bytes,
}
OPERATIONS = ["changes", "snapshot", "mailing list"]
VARY = {
    "changes": "Accept-Encoding",
    "snapshot": "Accept, Accept-Encoding",
    "mailing list": "Accept-Encoding",
}


@dataclass
class Shelf:
    """An account with an answer of each size to each operation that can be long."""

    publisher: Publisher

    @property
    def caller(self) -> Caller:
        """The account's caller."""
        return self.publisher.caller

    def path(self, operation: str, size: str) -> str:
        """Return the path and query of an answer."""
        if operation == "mailing list":
            return f"/2/downloadmailinglist/{LIST[size]}/"
        if operation == "snapshot":
            return f"/snapshot?entities={ENTITY[size]}"
        since = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return f"/2/cdc?changed_since={since}&entities={ENTITY[size]}"

    def ask(self, path: str, accept_encoding: str | None) -> RawAnswer:
        """Ask with a header of any characters, or without it; return the body as it came."""
        header = "" if accept_encoding is None else f"Accept-Encoding: {accept_encoding}\r\n"
        return self.caller.raw(path, extra=header.encode("latin-1"))


@pytest.fixture(scope="module")
def shelf(publishers: Publishers) -> Shelf:
    """An account of this module's own."""
    publisher = publishers.new()
    numbers = range(1_001, 2_701)
    publisher.load(
        addresses=[
            {"address_id": number, "subscriber_id": 1, "address": f"{number} Straße zum Fluß"}
            for number in numbers
        ],
        purchases=[
            {"purchase_id": number, "subscriber_id": 1, "notes": f"note of {number * 7}"}
            for number in numbers[:60]
        ],
        subscriptions=[
            {"subscription_id": number, "subscriber_id": 1, "publication_id": 1}
            for number in numbers
        ],
        list_downloads=[{"mailing_list_id": 101}, {"mailing_list_id": 102}],
        mailing_list_entries=[
            {"mailing_list_id": list_id, "subscription_id": number, "copies": number % 13}
            for list_id, count in ((101, 60), (102, len(numbers)))
            for number in numbers[:count]
        ],
    )
    return Shelf(publisher)


@pytest.fixture(scope="module")
def plain(shelf: Shelf) -> dict[tuple[str, str], bytes]:
    """Each answer as it is without compression."""
    found = {}
    for operation in OPERATIONS:
        for size, (least, most) in SIZES.items():
            answer = shelf.ask(shelf.path(operation, size), None)
            assert answer.status == 200
            assert "content-encoding" not in answer.headers
            assert least <= len(answer.body) < most
            found[operation, size] = answer.body
    return found


def decoded(answer: RawAnswer) -> bytes:
    """Return the body without the coding that its header names."""
    coding = answer.headers.get("content-encoding", "identity")
    return DECODERS[coding](answer.body)


# Which coding it is

CODINGS = {
    "gzip": "gzip",
    "zstd": "zstd",
    "GZip": "gzip",
    "ZSTD": "zstd",
    "gzip, zstd": "zstd",
    "zstd,gzip": "zstd",
    "gzip, deflate": "gzip",
    "gzip, deflate, br": "gzip",
    "gzip, deflate, br, zstd": "zstd",
    "br;q=1.0, gzip;q=0.8, *;q=0.1": "gzip",
    "gzip;q=1.0, deflate;q=0.6, identity;q=0.3": "gzip",
    "gzip;q=0.9, zstd;q=0.5": "gzip",
    "gzip;q=0.5, zstd;q=0.9": "zstd",
    "gzip;q=0.5, zstd;q=0.5": "zstd",
    "gzip;q=0.001": "gzip",
    "gzip;q=1.000, zstd;q=0.999": "gzip",
    "gzip;q=1., zstd;q=0.": "gzip",
    "gzip;Q=0.9, zstd;Q=0.1": "gzip",
    "gzip ; q=0.9 , zstd\t;\tq=0.1": "gzip",
    ",, gzip ,,": "gzip",
    "zstd;q=0, gzip": "gzip",
    "gzip;q=0, zstd": "zstd",
    "gzip;q=0": "identity",
    "gzip;q=0.000, zstd;q=0": "identity",
    "*": "zstd",
    "*;q=0.5": "zstd",
    "*, zstd;q=0": "gzip",
    "*;q=0.1, gzip;q=0.2": "gzip",
    "*;q=0, gzip": "gzip",
    "*;q=0": "identity",
    "": "identity",
    ",": "identity",
    "identity": "identity",
    "deflate, br": "identity",
    "identity, gzip;q=0.5": "identity",
    "identity;q=0.5, gzip": "gzip",
    "identity;q=0.5, *;q=0": "identity",
    "identity;q=0, gzip": "gzip",
    "identity;q=0": "identity",
    "identity;q=0, *;q=0": "identity",
    "identity;q=0, br": "identity",
}


@pytest.mark.parametrize("accept_encoding", CODINGS)
def test_a_client_gets_what_it_likes_best_and_zstd_where_it_likes_both(
    shelf: Shelf, plain: dict[tuple[str, str], bytes], accept_encoding: str
) -> None:
    """rules, "Change feed"; RFC 9110 section 12.5.3: 200 even where nothing is acceptable."""
    wanted = CODINGS[accept_encoding]
    for size in ("medium", "long"):
        answer = shelf.ask(shelf.path("snapshot", size), accept_encoding)
        assert answer.status == 200
        assert answer.headers.get("content-encoding", "identity") == wanted
        assert decoded(answer) == plain["snapshot", size]


@pytest.mark.parametrize(
    "accept_encoding",
    ["gzip;q=2", "gzip;q=-1", "gzip;q=", "gzip;q", "gzip;q=high", "gzip;q=0.5000", "gzip;x=1"],
)
def test_an_invalid_weight_does_not_fail_the_request(shelf: Shelf, accept_encoding: str) -> None:
    """rules, "Change feed": it is not what HTTP calls a weight, and so nothing is asked for."""
    answer = shelf.ask(shelf.path("snapshot", "medium"), accept_encoding)
    assert answer.status == 200
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["*", "zstd;q=0"], "gzip"),
        (["*", "zstd;q=0, gzip;q=0"], "identity"),
        (["br", "gzip"], "gzip"),
    ],
)
def test_a_header_of_several_lines_is_one_list(shelf: Shelf, lines: list[str], wanted: str) -> None:
    """RFC 9110 section 5.3: what a client has excluded must not come, in whichever line."""
    path = shelf.path("snapshot", "medium")
    extra = "".join(f"Accept-Encoding: {line}\r\n" for line in lines)
    answer = shelf.caller.raw(path, extra=extra.encode())
    assert answer.headers.get("content-encoding", "identity") == wanted


WEIGHTS = st.sampled_from([0, 0.001, 0.25, 0.5, 0.999, 1])


@given(
    weights=st.dictionaries(
        st.sampled_from(["gzip", "zstd", "identity", "br", "*"]), WEIGHTS, max_size=5
    ),
    data=st.data(),
)
def test_no_client_gets_what_it_excludes_or_likes_less(
    shelf: Shelf, weights: dict[str, float], data: st.DataObject
) -> None:
    """rules, "Change feed"; RFC 9110 section 12.5.3."""
    order = data.draw(st.permutations(sorted(weights)))
    header = ", ".join(f"{name};q={weights[name]}" for name in order)
    answer = shelf.ask(shelf.path("snapshot", "medium"), header)
    found = answer.headers.get("content-encoding", "identity")
    liked = {name: weights.get(name, weights.get("*", 0)) for name in ("zstd", "gzip")}
    best = max(liked.values())
    if best > weights.get("identity", 0):
        assert found == next(name for name, weight in liked.items() if weight == best)
    else:
        assert found == "identity"


# What it holds


def accept_encodings() -> st.SearchStrategy[str]:
    """Headers that HTTP can carry: any characters, and pieces of what would be right."""
    any_text = st.text(
        st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"),
        max_size=40,
    )
    pieces = st.sampled_from(
        [
            "gzip",
            "zstd",
            "identity",
            "*",
            "br",
            ";",
            "q=",
            "q=0",
            "0.5",
            "1",
            ",",
            " ",
            "\t",
            "\xff",
        ]
    )
    return any_text | st.lists(pieces, max_size=12).map("".join)


@given(accept_encoding=accept_encodings(), operation=st.sampled_from(OPERATIONS))
@example("gzip", "mailing list")
@example("zstd", "mailing list")
@example("zstd;q=0,*", "changes")
@example(";,;,=,q=;q", "changes")
@example("gzip;" * 3_000, "snapshot")
def test_the_body_is_the_same_for_every_accepted_encoding(
    shelf: Shelf,
    plain: dict[tuple[str, str], bytes],
    accept_encoding: str,
    operation: str,
) -> None:
    """rules, "Change feed": 200 and the same bytes; nothing under 1 KiB is compressed."""
    for size in SIZES:
        answer = shelf.ask(shelf.path(operation, size), accept_encoding)
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["vary"] == VARY[operation]
        assert decoded(answer) == plain[operation, size]
        if size == "short":
            assert "content-encoding" not in answer.headers
        if size != "long":
            assert answer.headers["content-length"] == str(len(answer.body))


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_client_that_decodes_by_itself_sees_no_difference(
    shelf: Shelf, plain: dict[tuple[str, str], bytes], operation: str, coding: str
) -> None:
    """rules, "Change feed": with a client that others wrote."""
    for size in SIZES:
        path = shelf.path(operation, size)
        answer = shelf.caller.ask(path, headers={"Accept-Encoding": coding})
        assert answer.content == plain[operation, size]
        wanted = "identity" if size == "short" else coding
        assert answer.headers.get("Content-Encoding", "identity") == wanted


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_compressed_body_is_one_stream_and_smaller(
    shelf: Shelf, plain: dict[tuple[str, str], bytes], operation: str, coding: str
) -> None:
    """rules, "Change feed": nothing follows the end, which some clients would ignore."""
    for size in ("medium", "long"):
        body = shelf.ask(shelf.path(operation, size), coding).body
        assert len(body) < len(plain[operation, size]) / 2
        decompressor = zstd.ZstdDecompressor() if coding == "zstd" else zlib.decompressobj(31)
        assert decompressor.decompress(body) == plain[operation, size]
        assert decompressor.eof
        assert decompressor.unused_data == b""


def test_curl_decodes_what_it_asks_for(shelf: Shelf, plain: dict[tuple[str, str], bytes]) -> None:
    """rules, "Change feed": with ``curl --compressed``."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    caller = shelf.caller
    user = f"{caller.api_key}:{caller.api_login}"
    for size in SIZES:
        url = caller.server.url + shelf.path("snapshot", size)
        done = subprocess.run(
            ["curl", "--silent", "--fail", "--noproxy", "*", "--compressed", "--user", user, url],
            check=True,
            capture_output=True,
        )
        assert done.stdout == plain["snapshot", size]


# What is not compressed


@pytest.mark.parametrize(
    "path",
    [
        "/2/subscriptions/",
        "/2/subscribers/?email=*",
        "/2/customfields/",
        "/2/accounts/",
        "/health",
        "/docs",
        "/2/nothing",
        "/snapshot?entities=nothing",
        "/2/cdc?changed_since=2020-01-01T00:00:00Z&entities=orders",
    ],
)
def test_other_answers_are_not_compressed(shelf: Shelf, path: str) -> None:
    """rules, "Change feed": the answers that can be long, and no others."""
    answer = shelf.ask(path, "gzip, zstd")
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_head_says_that_the_answer_varies(shelf: Shelf, operation: str) -> None:
    """RFC 9110 section 12.5.5: caches need it."""
    for size in SIZES:
        answer = shelf.caller.raw(shelf.path(operation, size), method="HEAD")
        assert answer.status == 200
        assert answer.headers["vary"] == VARY[operation]


def test_an_answer_without_a_change_varies_like_the_others(shelf: Shelf) -> None:
    """rules, "Change feed"."""
    soon = (datetime.now(UTC) + timedelta(minutes=3)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = f"/2/cdc?changed_since={soon}&entities=orders"
    answer = shelf.ask(path, "gzip")
    assert answer.body == b'{"orders":[]}'
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in answer.headers
