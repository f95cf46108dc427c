"""Files as spreadsheets and other systems write them: separators, quotes, encodings."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract.records import TABLES
from masthead.errors import BadInput
from masthead.loading.batches import NOTHING_SAID, Said
from masthead.loading.files import find_files
from masthead.loading.mapping_files import prepared
from masthead.loading.sources import complete, ending_of, source_batches, stem_and_format
from tests.long import examples
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.loading.publisher import Publisher

_numbers = itertools.count()

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff")
LATIN_1 = st.characters(max_codepoint=0xFF, exclude_characters="\x00")
TEXT = st.text(CHARACTERS, max_size=8) | st.sampled_from(["'", '"', ";", ",", "\t", "a\r\nb", " "])
SEPARATORS = st.sampled_from([",", ";", "\t", "|"])
Quoting = Literal[0, 1]
QUOTINGS: st.SearchStrategy[Quoting] = st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])


def written(folder: Path, content: bytes, name: str = "file.csv") -> Path:
    path = folder / f"{next(_numbers)}-{name}"
    path.write_bytes(content)
    return path


def table_of(path: Path, said: Said = NOTHING_SAID) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the columns and the rows of a file, of which none may be unreadable."""
    batches = list(source_batches(path, path.name, said))
    assert not any(batch.unreadable for batch in batches)
    rows = [row for batch in batches for row in zip(*batch.cells, strict=True)]
    return list(batches[0].columns), [tuple(str(cell) for cell in row) for row in rows]


def dialect(rows: Sequence[Sequence[str]], separator: str, quote: str, quoting: Quoting) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, quotechar=quote, quoting=quoting).writerows(rows)
    return out.getvalue()


@st.composite
def tables(draw: st.DrawFn, cells: st.SearchStrategy[str] = TEXT) -> list[list[str]]:
    """A header of two to four columns, and rows of which none is blank."""
    width = draw(st.integers(2, 4))
    row = st.lists(cells, min_size=width, max_size=width)
    row = row.filter(lambda texts: any(map(str.strip, texts)))
    return [["id", "name", "e-mail", "city"][:width], *draw(st.lists(row, max_size=5))]


@examples(40, 600)
@given(
    rows=tables(),
    separator=SEPARATORS,
    quote=st.sampled_from("\"'"),
    quoting=QUOTINGS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"]),
)
def test_what_is_written_in_a_dialect_that_is_said_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    separator: str,
    quote: str,
    quoting: Quoting,
    encoding: str,
) -> None:
    content = dialect(rows, separator, quote, quoting).encode(encoding)
    path = written(tmp_path_factory.getbasetemp(), content)
    said = Said(encoding=encoding, separator=separator, quote=quote)
    assert table_of(path, said) == (rows[0], [tuple(row) for row in rows[1:]])


@examples(40, 600)
@given(
    rows=tables(),
    separator=SEPARATORS,
    quoting=QUOTINGS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_is_written_in_another_dialect_is_detected(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    separator: str,
    quoting: Quoting,
    encoding: str,
) -> None:
    """rules, "What is detected"."""
    content = dialect(rows, separator, '"', quoting).encode(encoding)
    path = written(tmp_path_factory.getbasetemp(), content)
    assert table_of(path) == (rows[0], [tuple(row) for row in rows[1:]])


@examples(40, 600)
@given(table=st.sampled_from(TABLES), data=st.data())
def test_nothing_is_detected_in_a_plain_file_with_any_cells(
    tmp_path_factory: pytest.TempPathFactory, table: object, data: st.DataObject
) -> None:
    """rules, "What is detected": what UTF-8 with commas means never changes."""
    names = [column.name for column in table.columns]  # type: ignore[attr-defined]
    width = data.draw(st.integers(1, len(names)))
    row = st.lists(TEXT | st.text(LATIN_1, max_size=5), min_size=width, max_size=width)
    rows = [names[:width], *data.draw(st.lists(row, max_size=6))]
    quoting = data.draw(QUOTINGS)
    content = dialect(rows, ",", '"', quoting).encode()
    path = written(tmp_path_factory.getbasetemp(), content)
    assert complete(path, "x") == (Said("csv", "utf-8", ",", '"'), None)


@pytest.mark.parametrize(("quoted", "separator"), [(q, s) for q in (True, False) for s in ",;\t|"])
def test_a_file_of_a_spreadsheet_loads_as_it_is(
    publisher: Publisher, separator: str, *, quoted: bool
) -> None:
    cell = '"{}"'.format if quoted else str
    rows = (["subscriber_id", "source"], ["1", "Bahnhof, Zürich"], ["2", "Fleet Street; London"])
    if not quoted:
        rows = (["subscriber_id", "source"], ["1", "Zürich"], ["2", "London"])
    text = "".join(separator.join(map(cell, row)) + "\r\n" for row in rows)
    publisher.load({"subscribers.csv": text.encode("cp1252")})
    assert [row["source"] for row in publisher.table("subscribers")] == [row[1] for row in rows[1:]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_line_with_the_separator_is_not_a_row(
    tmp_path: Path, publisher: Publisher, separator: str, encoding: str
) -> None:
    """rules, "What is detected"."""
    rows = "subscriber_id;source\r\n1;Zürich\r\nx;Köln\r\n".replace(";", separator)
    content = f"sep={separator}\r\n{rows}".encode(encoding)
    publisher.load({"subscribers.csv": content}, reject=tmp_path / "bad")
    (subscriber,) = publisher.table("subscribers")
    assert subscriber["source"] == "Zürich"
    rejected = (tmp_path / "bad" / "subscribers.csv").read_bytes()
    for line, written in ((4, content), (2, rejected)):
        problem = publisher.problem({"subscribers.csv": written})
        assert problem.startswith(f"subscribers.csv:{line}: subscriber_id: 'x' is not")


@pytest.mark.parametrize(
    "name",
    [
        "subscribers.tsv",
        "subscribers.tsv.gz",
        "subscribers.jsonl",
        "subscribers.TSV",
        "subscribers.Tsv.GZ",
    ],
)
def test_other_endings_are_other_formats(publisher: Publisher, name: str) -> None:
    content = b"subscriber_id\tsource\n1\ta,b;c\n"
    if "jsonl" in name:
        content = b'{"subscriber_id": 1, "source": "a,b;c"}\n'
    publisher.load({name: gzip.compress(content) if name.lower().endswith(".gz") else content})
    (subscriber,) = publisher.table("subscribers")
    assert subscriber["source"] == "a,b;c"


def test_single_quotes_are_known_by_the_header(publisher: Publisher) -> None:
    content = "'subscriber_id';'source'\n'1';'a;b'\n'2';'O''Neil'\n"
    publisher.load({"subscribers.csv": content})
    assert [row["source"] for row in publisher.table("subscribers")] == ["a;b", "O'Neil"]
    publisher.load({"subscribers.csv": "subscriber_id,source\n1,'x'\n"})
    assert publisher.table("subscribers")[0]["source"] == "'x'"


NAMES = {
    "cp1252": ["Müller", "Schröder", "Weiß", "Lefèvre", "Chloé", "Bœuf", "Sørensen", "Peña"],
    "cp1250": ["Łukasz", "Wiśniewski", "Świętokrzyska", "Dąbrowski", "Żak", "Gdańsk", "Wójcik"],
    "cp1251": ["Иванов", "Петров", "Смирнов"],
    "cp1253": ["Παπαδόπουλος", "Γεωργίου"],
}


@pytest.mark.parametrize(
    ("encoding", "name"), [(encoding, name) for encoding in NAMES for name in NAMES[encoding]]
)
def test_a_few_letters_in_a_file_of_ascii_are_enough(
    tmp_path: Path, encoding: str, name: str
) -> None:
    """rules, "What is detected": the letters may come in the last of many rows."""
    others = [other for other in NAMES[encoding] if other != name][:2]
    last = "".join(f"{n};{each};x@example.com\r\n" for n, each in enumerate([name, *others]))
    text = "id;name;email\r\n" + "7;Smith;smith@example.com\r\n" * 9_000 + last
    path = written(tmp_path, text.encode(encoding))
    assert [row[1] for row in table_of(path)[1][-len(others) - 1 :]] == [name, *others]


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("format_", ["csv", "ndjson"])
def test_utf_16_is_known_with_and_without_its_mark(
    publisher: Publisher, format_: str, order: str, *, mark: bool
) -> None:
    text = "subscriber_id,source\r\n1,Zürich 東京\r\n"
    if format_ == "ndjson":
        text = '{"subscriber_id":1,"source":"Zürich 東京"}\r\n'
    content = ("\ufeff" * mark + text).encode(f"utf-16-{order}")
    publisher.load({f"subscribers.{format_}": content})
    assert publisher.table("subscribers")[0]["source"] == "Zürich 東京"


def test_what_was_detected_is_said(tmp_path: Path, publisher: Publisher) -> None:
    """rules, "What is detected"."""
    files = {
        "publications.csv": b"publication_id,name\n1,Tide\n",
        "subscribers.csv": "subscriber_id;source\n1;Zürich\n".encode("cp1252"),
        "addresses.csv": "address_id\tsubscriber_id\n1\t1\n".encode("utf-16"),
        "orders.csv": b"'order_id'|'subscriber_id'\n'1'|'1'\n",
        "purchases.csv": "purchase_id,name\n1,Zürich\n".encode("iso8859-1"),
    }
    said: list[str] = []
    prepared(find_files([publisher.write(files)]), said.append)
    assert said == [
        "addresses.csv: read as UTF-16 with tabs",
        "orders.csv: read with bars and single quotes",
        "purchases.csv: read as Windows-1252",
        "subscribers.csv: read as Windows-1252 with semicolons",
    ]


def test_the_command_prints_what_was_detected_and_what_is_doubtful(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/m.db"
    masthead("accounts", "add", 1, database=database)
    path = tmp_path / "subscribers.csv"
    path.write_text("subscriber_id;source;email\n1;[b]web[/b];[i]\n")
    done = masthead("import", path, "--account=1", database=database)
    assert done.stderr == (
        "subscribers.csv: read with semicolons\n"
        "warning: subscribers.csv:2: email: '[i]' is no email address\n"
    )
    assert done.stdout == "subscribers  1 inserted, 0 changed, 0 unchanged\n"


def test_a_byte_that_the_encoding_does_not_have_is_a_problem_of_its_row(
    publisher: Publisher, tmp_path: Path
) -> None:
    content = "subscriber_id;source\n1;Zürich\n2;Köln\n".encode("cp1252") + b"3;caf\x81\n"
    line = publisher.problem({"subscribers.csv": content})
    assert line == "subscribers.csv:4: source: holds bytes that are no Windows-1252"
    publisher.load({"subscribers.csv": content}, reject=tmp_path / "r")
    assert b"\r\n3;caf\x81;source: " in (tmp_path / "r" / "subscribers.csv").read_bytes()
    assert len(publisher.table("subscribers")) == 2


def test_half_a_character_of_utf_16_is_a_problem_of_its_row(publisher: Publisher) -> None:
    content = "subscriber_id,source\n1,a\n".encode("utf-16") + b"2\x00,\x00\x3d\xd8\n\x00"
    line = publisher.problem({"subscribers.csv": content})
    assert line == "subscribers.csv:3: source: holds bytes that are no UTF-16"


CHARACTERS_NOT = "separator and quote are two different characters, not"
COMMAS = "the header is one cell with commas between the cells"


@pytest.mark.parametrize(
    ("content", "said", "problem"),
    [
        (
            b"a;b;c\n1;2;3\n",
            Said(separator=","),
            f"f:1: {COMMAS}, and looks like 3 cells with semicolons",
        ),
        (
            "a,b\n1,ü\n".encode("cp1252"),
            Said(encoding="utf-8"),
            "f: said to be UTF-8, and looks like Windows-1252",
        ),
        (
            "a,b\n1,ü\n".encode("utf-16"),
            Said(encoding="utf-8"),
            "f: said to be UTF-8, and looks like UTF-16",
        ),
        (
            "a,b\n1,ü\n".encode("utf-16-le"),
            Said(encoding="cp1252"),
            "f: said to be Windows-1252, and looks like UTF-16-LE",
        ),
        (
            "a,b\n1,ü\n".encode("utf-8-sig"),
            Said(encoding="latin-1"),
            "f: said to be ISO-8859-1, and looks like UTF-8",
        ),
        (
            "a,b\n1,äöüßéèñçøå\n".encode(),
            Said(encoding="cp1252"),
            "f: said to be Windows-1252, and looks like UTF-8",
        ),
        (
            b"a,b\n1,2\n",
            Said(encoding="utf-16"),
            "f: said to be UTF-16, and looks like UTF-8",
        ),
        (b"a,b\n", Said(encoding="klingon"), "f: there is no encoding 'klingon'"),
        (b"a,b\n", Said(encoding="zip"), "f: there is no encoding 'zip'"),
        (b"a,b\n", Said(encoding="idna"), "f: there is no encoding 'idna'"),
        (b"a,b\n", Said(format="ods"), "f: there is no format 'ods'"),
        (b"a,b\n", Said(separator=";;"), f"f: {CHARACTERS_NOT} ';;'"),
        (b"a,b\n", Said(separator="'", quote="'"), f'f: {CHARACTERS_NOT} "\'"'),
    ],
)
def test_a_file_that_is_not_what_was_said_is_refused_with_what_it_looks_like(
    tmp_path: Path, content: bytes, said: Said, problem: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(BadInput) as refusal:
        list(source_batches(path, "f", said))
    assert str(refusal.value) == problem


def test_a_tsv_with_commas_is_refused_with_what_it_looks_like(publisher: Publisher) -> None:
    line = publisher.problem({"subscribers.tsv": "subscriber_id,email\n1,a\n"})
    assert line == (
        "subscribers.tsv:1: the header is one cell with tabs between the cells, and looks like 2 "
        "cells with commas"
    )


@pytest.mark.parametrize("blank", ["\n", ",,\n", '"","",\n', "\n\n,,\n", " \n", " , ,\n"])
def test_a_blank_row_is_skipped(publisher: Publisher, blank: str) -> None:
    """rules, "Rows that are blank or cut off"."""
    content = f"{blank}subscriber_id,email,source\n{blank}1,a,\n{blank}x,b,\n{blank}"
    line = publisher.problem({"subscribers.csv": content})
    count = blank.count("\n")
    assert line.startswith(f"subscribers.csv:{3 + 3 * count}: subscriber_id: 'x' ")
    loaded = publisher.load({"subscribers.csv": content.replace("x,", "2,")})
    assert loaded.counts["subscribers"].inserted == 2


def test_a_blank_record_of_ndjson_is_skipped(publisher: Publisher) -> None:
    """rules, "Rows that are blank or cut off"."""
    content = '{}\n{"subscriber_id":1}\n{"subscriber_id":null,"email":" "}\n'
    assert publisher.load({"subscribers.ndjson": content}).counts["subscribers"].inserted == 1


def test_all_problems_of_all_headers_are_listed_at_once(publisher: Publisher) -> None:
    lines = publisher.problems(
        {
            "addresses.csv": "id;subscriber_id;town\n1;1;Salem\n",
            "orders.ndjson": "x\n",
            "publications.csv": "publication_id,name\n1,Tide\n",
            "subscribers.csv": "email,email,Name\na,b,c\n",
        }
    )
    assert lines == [
        "addresses.csv:1: there is no column 'id' in addresses; the nearest is 'zip_code'",
        "addresses.csv:1: there is no column 'town' in addresses; the nearest is 'company'",
        "addresses.csv:1: the column address_id is missing, the key of addresses",
        "subscribers.csv:1: there is no column 'Name' in subscribers; the nearest is 'last_name'",
        "subscribers.csv:1: the column email occurs twice",
        "subscribers.csv:1: the column subscriber_id is missing, the key of subscribers",
    ]


def test_a_mapping_reads_the_columns_of_a_source_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, b"Nr;;Name;Name\n1;a;b;c\n")
    assert table_of(path) == (["Nr", "", "Name", "Name"], [("1", "a", "b", "c")])
    path = written(tmp_path, b'{"a":1.50,"b":true,"c":[1,"x"],"d":null}\n{"b":-7}\n', "x.ndjson")
    (batch,) = source_batches(path, "x")
    assert dict(zip(batch.columns, batch.cells, strict=True)) == {
        "a": ["1.50", None],
        "b": ["true", "-7"],
        "c": ["1|x", None],
        "d": ["", None],
    }


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"PK\x03\x04", "a workbook (.xlsx) or another zip file"),
        (b"\xd0\xcf\x11\xe0", "an old workbook (.xls), which must be saved as .xlsx"),
        (b"\x1f\x8b\x08", "one packed with gzip (.gz)"),
        (b"\x28\xb5\x2f\xfd", "one packed with zstd (.zst)"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson"])
def test_a_file_with_the_wrong_ending_is_refused_with_what_it_looks_like(
    publisher: Publisher, ending: str, start: bytes, kind: str
) -> None:
    (line,) = publisher.problems({f"subscribers.{ending}": start + bytes(range(256))})
    assert line == f"subscribers.{ending}: by its name a text file, and looks like {kind}"


@pytest.mark.parametrize(
    ("name", "stem", "format_", "ending"),
    [
        ("a b.csv", "a b", "csv", ".csv"),
        ("a.b.tsv.gz", "a.b", "tsv", ".tsv"),
        ("a.jsonl.zst", "a", "ndjson", ".jsonl"),
        ("a.xlsx", "a", "xlsx", ".xlsx"),
        ("a.xlsx.gz", "a.xlsx", "", ""),
        ("A.XLSX", "A", "xlsx", ".XLSX"),
        ("A.Csv.GZ", "A", "csv", ".Csv"),
        ("a.txt", "a.txt", "", ""),
        ("a.txt.gz", "a.txt", "", ""),
        ("csv", "csv", "", ""),
    ],
)
def test_a_name_tells_the_format(name: str, stem: str, format_: str, ending: str) -> None:
    assert stem_and_format(Path(name)) == (stem, format_)
    assert ending_of(Path(name)) == ending
