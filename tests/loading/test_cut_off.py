"""Files that look cut off in the middle of a record: refused, unless that is allowed."""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading.load import Loaded, Options, load
from tests.long import examples
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPLETE = "subscriber_id,source,email\n1,web,ada@example.com\n2,web,grace.hopper@example.com\n"
ADVICE = "the file looks cut off; get it again, or allow it if it is complete"
NO_NEWLINE = f"the last line does not end with a newline: {ADVICE}"


def load_anyway(
    publisher: Publisher, name: str, content: bytes, reject: Path | None = None
) -> Loaded:
    folder = publisher.write({name: content})
    return load(
        publisher.store,
        [folder],
        account_id=publisher.account_id,
        options=Options(reject, allow_truncated=True),
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_cell_that_is_cut_off_is_refused(
    publisher: Publisher, newline: str, encoding: str
) -> None:
    """rules, "Rows that are blank or cut off"."""
    cut = COMPLETE[: COMPLETE.index("grace.hopper@") + len("grace.hopper@")]
    content = cut.replace("\n", newline).encode(encoding)
    line = publisher.problem({"subscribers.csv": content})
    assert line == f"subscribers.csv:3: {NO_NEWLINE}"
    load_anyway(publisher, "subscribers.csv", content)
    assert publisher.table("subscribers")[1]["email"] == "grace.hopper@"


@examples(20, 450)
@given(length=st.integers(1, len(COMPLETE) - 1), ending=st.sampled_from(["csv", "ndjson"]))
def test_a_file_that_is_cut_off_in_a_record_is_refused_wherever_it_is_cut(
    publisher: Publisher, length: int, ending: str
) -> None:
    """At the end of a record nothing shows that others are missing."""
    content = COMPLETE.encode()
    if ending == "ndjson":
        content = b'{"subscriber_id":1,"email":"ada@example.com"}\n{"subscriber_id":2}\n'
    cut = content[:length]
    is_whole = cut.endswith((b"\n", b"}")) or b"\n" not in cut
    if is_whole and b"\n" in cut:
        publisher.load({f"subscribers.{ending}": cut})
    elif not is_whole:
        assert ADVICE in publisher.problem({f"subscribers.{ending}": cut})


def test_a_complete_file_without_its_last_newline_is_refused_too(publisher: Publisher) -> None:
    """rules, "Rows that are blank or cut off": nothing tells it from one that is cut off."""
    line = publisher.problem({"subscribers.csv": COMPLETE.removesuffix("\n")})
    assert line == f"subscribers.csv:3: {NO_NEWLINE}"
    publisher.load({"subscribers.csv": COMPLETE + "\n\n"})
    publisher.load({"subscribers.csv": "subscriber_id,email"})


def test_a_line_inside_quotes_counts_as_what_it_belongs_to(publisher: Publisher) -> None:
    line = publisher.problem({"subscribers.csv": 'subscriber_id,source\n1,"a\nb"'})
    assert line == f"subscribers.csv:2: {NO_NEWLINE}"


def test_too_few_cells_in_the_last_row_are_refused(publisher: Publisher, tmp_path: Path) -> None:
    content = COMPLETE + "3,web\n"
    line = publisher.problem({"subscribers.csv": content})
    cells = "row: has 2 cells where the header has 3"
    assert line == f"subscribers.csv:4: {cells}, in the last row: {ADVICE}"
    with pytest.raises(BadInput, match="looks cut off"):
        publisher.load({"subscribers.csv": content}, reject=tmp_path / "r")
    loaded = load_anyway(publisher, "subscribers.csv", content.encode(), reject=tmp_path / "r")
    assert loaded.rejected == {"subscribers.csv": 1}
    assert len(publisher.table("subscribers")) == 2


def test_quotes_that_are_not_closed_are_never_allowed(publisher: Publisher) -> None:
    """rules, "Rows that are blank or cut off": they may begin anywhere in the file."""
    with pytest.raises(BadInput, match=r"subscribers.csv:4: the quotes that begin here are not"):
        load_anyway(publisher, "subscribers.csv", COMPLETE.encode() + b'3,"we')


def test_an_object_that_is_cut_off_is_refused_and_a_whole_one_is_not(
    publisher: Publisher, tmp_path: Path
) -> None:
    lines = b'{"subscriber_id":1}\n{"subscriber_id":2,"email":"a@example.com"}'
    publisher.load({"subscribers.ndjson": lines})
    line = publisher.problem({"subscribers.ndjson": lines[:-5]})
    assert line.startswith("subscribers.ndjson:2: row: not valid JSON: ")
    assert line.endswith(f", in the last line: {ADVICE}")
    loaded = load_anyway(publisher, "subscribers.ndjson", lines[:-5], reject=tmp_path / "r")
    assert loaded.rejected == {"subscribers.ndjson": 1}


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstd.compress)])
@pytest.mark.parametrize("format_", ["csv", "tsv", "ndjson"])
def test_a_packed_file_that_ends_early_is_never_allowed(
    publisher: Publisher, format_: str, ending: str, pack: type[bytes]
) -> None:
    name = f"subscribers.{format_}{ending}"
    packed = pack(b"".join(b"%d,%d@example.org\n" % (n, n * 7919) for n in range(9_000)))
    with pytest.raises(BadInput, match=f"^{name}: cannot be read to its end: "):
        load_anyway(publisher, name, packed[:-9])


def test_the_command_has_an_option_for_it(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/m.db"
    masthead("accounts", "add", 1, database=database)
    path = tmp_path / "subscribers.csv"
    path.write_text(COMPLETE.removesuffix("\n"))
    done = masthead("import", path, "--account=1", "--allow-truncated", database=database)
    assert done.stdout == "subscribers  2 inserted, 0 changed, 0 unchanged\n"
