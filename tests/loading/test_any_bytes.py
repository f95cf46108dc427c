"""Whatever bytes a file holds, a load succeeds, or explains itself and changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from masthead.contract.records import TABLES
from masthead.errors import MastheadError
from tests.long import examples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

NAMES = st.sampled_from([table.name for table in TABLES])
FORMATS = st.sampled_from(["csv", "ndjson"])
PACKINGS = st.sampled_from(["", "", "", ".gz", ".zst"])
CELLS = st.sampled_from(["1", "2", "99", "-1", "", "x", '"', "\x00", "\r", "NaN", "1e5", "10|11"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def almost_csv(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file with a header that fits and cells that often do not."""
    table = draw(st.sampled_from(TABLES))
    columns = [column.name for column in table.columns]
    kept = [name for name in columns if name in table.key or draw(st.booleans())]
    rows = draw(
        st.lists(
            st.lists(CELLS | st.text(max_size=6), min_size=len(kept), max_size=len(kept)),
            max_size=4,
        )
    )
    text = "\n".join(",".join(row) for row in [kept, *rows])
    return f"{table.name}.csv", text.encode("utf-8", "surrogatepass")


@st.composite
def almost_ndjson(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file of objects whose keys fit and whose values often do not."""
    table = draw(st.sampled_from(TABLES))
    columns = [column.name for column in table.columns]
    values = st.sampled_from([1, 2, "1", "x", None]) | JSON
    records = []
    for _ in range(draw(st.integers(0, 4))):
        record = {
            name: draw(values) for name in columns if name in table.key or draw(st.booleans())
        }
        records.append(json.dumps(record, ensure_ascii=draw(st.booleans())))
    return f"{table.name}.ndjson", "\n".join(records).encode("utf-8", "surrogatepass")


ANY_FILE = st.tuples(st.builds("{}.{}{}".format, NAMES, FORMATS, PACKINGS), st.binary(max_size=200))


@examples(30, 100)
@given(file=ANY_FILE | almost_csv() | almost_ndjson())
@example(file=("subscribers.csv", b'subscriber_id\n"'))
@example(file=("subscribers.ndjson", b'{"subscriber_id":1' * 20_000))
def test_a_load_succeeds_or_explains_itself_and_changes_nothing(
    small: Publisher, file: tuple[str, bytes]
) -> None:
    name, content = file
    before = small.everything()
    sentence = ""
    try:
        small.load({name: content})
    except MastheadError as refusal:
        sentence = str(refusal)
    if sentence:
        assert name in sentence
        assert small.everything() == before
    else:
        after = small.everything()
        assert all(len(after[table]) >= len(before[table]) for table in before)


@examples(30, 100)
@given(file=almost_ndjson())
def test_with_reject_a_row_is_loaded_or_put_aside_never_both_and_never_neither(
    small: Publisher, tmp_path: Path, file: tuple[str, bytes]
) -> None:
    name, content = file
    source = small.write({name: content})
    reject = tmp_path / f"rejects-of-{source.name}"
    loaded = small.load_folder(source, reject=reject)
    (counts,) = loaded.counts.values()
    rejected = sum(loaded.rejected.values())
    assert sum(counts) + rejected == sum(1 for line in content.split(b"\n") if line.strip())
    written = [line for path in reject.iterdir() for line in path.read_bytes().splitlines()]
    assert len(written) == rejected
    for line in written:
        assert json.loads(line)["reason"]
