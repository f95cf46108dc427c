"""A load of a file with any bytes succeeds, or explains itself and changes nothing."""

from __future__ import annotations

import gzip
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from masthead.contract.records import TABLES
from masthead.errors import MastheadError
from masthead.store import open_store
from tests.loading.publisher import SMALL, Publisher
from tests.loading.test_any_bytes import almost_csv, almost_ndjson
from tests.long import MORE_WITH_EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.servers import Store

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAMES = st.sampled_from([table.name for table in TABLES])
HOSTILE = st.sampled_from(
    [
        *(b"", b"\n", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b'"', b'"\n' * 50, b"," * 5_000),
        *(b"subscriber_id", b"subscriber_id\n1", b"subscriber_id\r1\r", b"subscriber_id\n1\x00"),
        *(b"subscriber_id,reason,reason\n1,,\n", b"subscriber_id\n" + b"9" * 5_000 + b"\n"),
        *(b"{}", b"[]", b"null", b'{"subscriber_id":1e999}', b'{"subscriber_id":NaN}'),
        *(b'{"subscriber_id":1,"subscriber_id":2}', b'{"subscriber_id":"\\ud800"}'),
        *(b'{"subscriber_id":' + b"9" * 5_000 + b"}", b'{"subscriber_id":' + b"[" * 9_000),
        *(b'{"subscriber_id":1,"email":"\xed\xa0\x80"}', b'{"subscriber_id":1,"source":"\\u0000"}'),
        b'{"subscriber_id":1}\n' * 5_000,
        b"subscriber_id,source\n" + b"1,x\n2,y\n" * 2_500,
    ]
)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file that almost fits, or does not at all; packed, or nearly so."""
    name, content = draw(
        almost_csv()
        | almost_ndjson()
        | st.tuples(
            st.builds("{}.{}".format, NAMES, st.sampled_from(["csv", "ndjson"])),
            HOSTILE | st.binary(max_size=300),
        )
    )
    ending = draw(st.sampled_from(["", "", ".gz", ".zst"]))
    parts = draw(st.integers(1, 2))
    if ending == ".gz":
        content = gzip.compress(content) * parts
    elif ending == ".zst":
        content = zstd.compress(content) * parts
    if draw(st.integers(0, 2)) == 0:
        at = draw(st.integers(0, len(content)))
        content = (
            content[:at] + draw(st.binary(max_size=4)) + content[at + draw(st.integers(0, 9)) :]
        )
    return name + ending, content


@pytest.fixture(scope="module")
def publisher(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    database = store.new_database("hostile-files")
    with closing(open_store(database)) as opened:
        publisher = Publisher(database, tmp_path_factory.mktemp("files"), store=opened)
        publisher.load(SMALL)
        yield publisher


@MORE_WITH_EVERY
def test_no_file_makes_a_fault_or_half_a_load(
    publisher: Publisher, cases: Callable[[float], int], tmp_path: Path
) -> None:
    """rules, "A key twice in an object" and "Packed files that grow too much"."""
    publisher.folder = tmp_path
    known = [publisher.everything()]
    mended = {"publications.csv": SMALL["publications.csv"]}

    @settings(max_examples=cases(0.1), database=None, suppress_health_check=list(HealthCheck))
    @given(file=files())
    def load(file: tuple[str, bytes]) -> None:
        name, content = file
        note(f"{name}: {content!r}")
        sentence = ""
        try:
            publisher.load({name: content})
        except MastheadError as refusal:
            sentence = str(refusal)
        if sentence:
            assert name in sentence
            assert publisher.everything() == known[0]
        else:
            known[0] = publisher.everything()
        (counts,) = publisher.load(mended).counts.values()
        assert sum(counts) == 2
        if counts.changed:
            known[0] = publisher.everything()

    load()
