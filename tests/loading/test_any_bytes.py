"""A load of a file with any bytes succeeds, or says what is wrong and changes nothing."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from masthead.contract.records import TABLES
from masthead.errors import MastheadError
from masthead.store.books.ownership import BOOKS
from tests.loading.workbooks import with_parts, workbook
from tests.long import examples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

OF_FILES = [table for table in TABLES if table.name not in BOOKS]
NAMES = st.sampled_from([table.name for table in OF_FILES])
FORMATS = st.sampled_from(["csv", "tsv", "ndjson", "jsonl"])
ENCODINGS = st.sampled_from(["utf-8", "utf-8", "utf-16", "utf-16-be", "cp1252", "gb18030"])
PACKINGS = st.sampled_from(["", "", "", ".gz", ".zst"])
CELLS = st.sampled_from(["1", "2", "99", "-1", "", "x", '"', "\x00", "\r", "NaN", "1e5", "10|11"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


PARTS = [
    "[Content_Types].xml",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/styles.xml",
    "xl/sharedStrings.xml",
    "xl/worksheets/sheet1.xml",
]
PLACES = st.integers(0, 100_000)
"""Not within the length of a workbook, which depends on when it is made."""

SNIPPETS = [
    b'"',
    b"<c/>",
    b"<f>A1</f>",
    b's="1"',
    b'formatCode="000-00"',
    b"<v>1E+99</v>",
    b'r="ZZZ9"',
    b'r="0"',
    b't="d"',
    b't="s"',
    b"<v>1e999</v>",
    b"<v>99</v>",
]


@st.composite
def almost_csv(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file with a header that fits and cells that often do not."""
    table = draw(st.sampled_from(OF_FILES))
    columns = [column.name for column in table.columns]
    kept = [name for name in columns if name in table.key or draw(st.booleans())]
    rows = draw(
        st.lists(
            st.lists(CELLS | st.text(max_size=6), min_size=len(kept), max_size=len(kept)),
            max_size=4,
        )
    )
    separator = draw(st.sampled_from(",,,;\t|"))
    text = "".join(f"{separator.join(row)}\n" for row in [kept, *rows])
    encoded = text.encode(draw(ENCODINGS), "ignore")
    return f"{table.name}.{draw(st.sampled_from(['csv', 'csv', 'tsv']))}", encoded


@st.composite
def almost_xlsx(draw: st.DrawFn) -> tuple[str, bytes]:
    """A workbook of which a part is something else, or some bytes are."""
    table = draw(st.sampled_from(OF_FILES))
    header = [column.name for column in table.columns]
    values: st.SearchStrategy[object] = st.one_of(
        CELLS.filter(str.isprintable),
        st.integers(),
        st.booleans(),
        st.datetimes(),
        st.floats(allow_nan=False, allow_infinity=False),
    )
    rows = draw(st.lists(st.lists(values, max_size=len(header) + 1), max_size=4))
    content = workbook([header, *rows])
    match draw(st.integers(0, 3)):
        case 0:
            with zipfile.ZipFile(io.BytesIO(content)) as parts:
                part = draw(st.sampled_from([name for name in PARTS if name in parts.namelist()]))
                xml = parts.read(part)
            start = draw(PLACES) % len(xml)
            end = start + draw(st.integers(0, 20))
            other = draw(st.binary(max_size=20) | st.sampled_from(SNIPPETS))
            content = with_parts(content, {part: xml[:start] + other + xml[end:]})
        case 1:
            start = draw(PLACES) % len(content)
            content = content[:start] + draw(st.binary(max_size=20)) + content[start + 10 :]
        case _:
            pass
    return f"{table.name}.xlsx", content


@st.composite
def almost_ndjson(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file of objects whose keys fit and whose values often do not."""
    table = draw(st.sampled_from(OF_FILES))
    columns = [column.name for column in table.columns]
    values = st.sampled_from([1, 2, "1", "x", None]) | JSON
    records = []
    for _ in range(draw(st.integers(0, 4))):
        record = {
            name: draw(values) for name in columns if name in table.key or draw(st.booleans())
        }
        records.append(json.dumps(record, ensure_ascii=draw(st.booleans())))
    return f"{table.name}.ndjson", "".join(f"{r}\n" for r in records).encode(
        "utf-8", "surrogatepass"
    )


ANY_NAME = st.builds("{}.{}{}".format, NAMES, FORMATS, PACKINGS) | NAMES.map("{}.xlsx".format)
ANY_FILE = st.tuples(ANY_NAME, st.binary(max_size=200))


@examples(30, 500)
@given(file=ANY_FILE | almost_csv() | almost_ndjson() | almost_xlsx())
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


def is_record(line: bytes) -> bool:
    """Whether a line is one, good or bad (rules, "Rows that are blank or cut off")."""
    try:
        return bool(line.strip()) and any(v not in (None, "") for v in json.loads(line).values())
    except ValueError:
        return True


@examples(30, 500)
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
    assert sum(counts) + rejected == sum(map(is_record, content.split(b"\n")))
    written = [line for path in reject.iterdir() for line in path.read_bytes().splitlines()]
    assert len(written) == rejected
    for line in written:
        assert json.loads(line)["reason"]
