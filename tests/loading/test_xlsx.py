"""Workbooks: cells as text, sheets, what is no workbook, and what is too large."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading import xlsx
from masthead.loading.batches import CELLS_MAX, NOTHING_SAID, Said
from masthead.loading.cleaning import is_error
from masthead.loading.sources import source_batches
from tests.loading.mapped import load_mapped
from tests.loading.workbooks import sheet_xml, with_parts, workbook
from tests.long import examples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

SHEET = "xl/worksheets/sheet1.xml"


def moment(hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime.combine(date(2025, 12, 31), time(hour, minute, second))


def read(folder: Path, content: bytes, said: Said = NOTHING_SAID) -> list[dict[str, str | None]]:
    """Return the rows of a workbook, which has no unreadable ones."""
    path = folder / "book.xlsx"
    path.write_bytes(content)
    found = []
    for batch in source_batches(path, "book.xlsx", said):
        assert not batch.unreadable
        found += [
            dict(zip(batch.columns, row, strict=True)) for row in zip(*batch.cells, strict=True)
        ]
    return found


def refusal(folder: Path, content: bytes, said: Said = NOTHING_SAID) -> str:
    with pytest.raises(BadInput) as refused:
        read(folder, content, said)
    return str(refused.value)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("text", "text"),
        (" 007 ", " 007 "),
        (17, "17"),
        (-1.0, "-1"),
        (0.0, "0"),
        (49.9, "49.9"),
        (0.1 + 0.2, "0.3"),
        (1e-7, "0.0000001"),
        (1e15, "1000000000000000"),
        (True, "true"),
        (False, "false"),
        (date(2025, 12, 31), "2025-12-31"),
        (moment(23, 59, 59), "2025-12-31 23:59:59"),
        (time(8, 30), "08:30:00"),
        (timedelta(hours=36, minutes=5), "36:05:00"),
        (None, ""),
    ],
)
def test_a_cell_is_the_text_that_other_formats_would_have(
    tmp_path: Path, cell: object, text: str
) -> None:
    """rules, "Workbooks"."""
    (row,) = read(tmp_path, workbook([("id", "cell"), (1, cell)]))
    assert row == {"id": "1", "cell": text}


@examples(20, 300)
@given(
    rows=st.lists(
        st.lists(
            st.text(st.characters(min_codepoint=32, exclude_categories=["C"]), max_size=6).filter(
                lambda text: not is_error(text)
            ),
            min_size=2,
            max_size=2,
        ),
        max_size=5,
    )
)
def test_text_is_read_as_it_is_and_blank_rows_are_skipped(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    # A text that starts with = is a formula for the library that writes.
    rows = [["'" * cell.startswith("=") + cell for cell in row] for row in rows]
    found = read(tmp_path_factory.getbasetemp(), workbook([("a", "b"), *rows]))
    assert [list(row.values()) for row in found] == [
        row for row in rows if any(map(str.strip, row))
    ]


def test_a_plain_load_takes_a_day_as_its_column_has_it(
    small: Publisher,
) -> None:
    """rules, "Workbooks"."""
    small.load(
        {
            "orders.xlsx": workbook(
                [("order_id", "order_date", "grand_total"), (1, date(2025, 12, 31), 49.90)]
            ),
            "subscriptions.xlsx": workbook(
                [
                    ("subscription_id", "date_created", "renew_campaign_active", "issues"),
                    (1, moment(), True, 12.0),
                ]
            ),
        }
    )
    assert small.table("orders")[0]["order_date"] == "2025-12-31 00:00:00"
    assert small.table("orders")[0]["grand_total"] == "49.9"
    subscription = small.table("subscriptions")[0]
    assert subscription["date_created"] == "2025-12-31"
    assert (subscription["renew_campaign_active"], subscription["issues"]) == (1, 12)


def test_a_moment_in_a_column_of_days_is_a_problem_that_shows_it(small: Publisher) -> None:
    rows = [("subscription_id", "date_created"), (1, moment(10))]
    line = small.problem({"subscriptions.xlsx": workbook(rows)})
    assert line == (
        "subscriptions.xlsx:2: date_created: '2025-12-31 10:00:00' is not a date that exists, "
        "written YYYY-MM-DD"
    )


def test_the_header_is_the_first_row_that_is_not_blank_wherever_it_begins(tmp_path: Path) -> None:
    rows = [(), (None, None, None), (None, "id", "name"), (), (None, 1, "a"), (None, 2)]
    assert read(tmp_path, workbook(rows)) == [{"id": "1", "name": "a"}, {"id": "2", "name": ""}]


def test_a_value_beside_the_named_columns_is_a_problem(publisher: Publisher) -> None:
    rows = [("subscriber_id",), (1,), (2, "note to self"), (3,)]
    line = publisher.problem({"subscribers.xlsx": workbook(rows)})
    assert line == (
        "subscribers.xlsx:3: row: has the value 'note to self' in a column without a name"
    )


def test_the_error_of_a_formula_is_a_problem(publisher: Publisher) -> None:
    """rules, "Workbooks": neither a text nor a missing value."""
    rows = [("subscriber_id", "email"), (1, "#N/A")]
    line = publisher.problem({"subscribers.xlsx": workbook(rows)})
    assert line == (
        "subscribers.xlsx:2: email: the formula has the error #N/A: mend it, or empty the cell"
    )


def test_the_first_visible_sheet_is_read_or_the_one_that_is_said(tmp_path: Path) -> None:
    content = workbook([("id",), (1,)], Readers=[("id",), (2,)])
    assert read(tmp_path, content) == [{"id": "1"}]
    assert read(tmp_path, content, Said(sheet="Readers")) == [{"id": "2"}]
    book = "xl/workbook.xml"
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        hidden = parts.read(book).replace(b'state="visible"', b'state="hidden"', 1)
    assert read(tmp_path, with_parts(content, {book: hidden})) == [{"id": "2"}]
    sentence = refusal(tmp_path, content, Said(sheet="readers"))
    assert sentence == "book.xlsx: has no sheet 'readers'; there is 'First', 'Readers'"


def test_rejected_rows_of_a_workbook_are_csv_that_loads(
    publisher: Publisher, tmp_path: Path
) -> None:
    rows = [("subscriber_id", "source"), (1, "ok"), ("x", "Zürich, HB"), (3,)]
    loaded = publisher.load({"subscribers.xlsx": workbook(rows)}, reject=tmp_path / "r")
    assert loaded.rejected == {"subscribers.csv": 1}
    written = tmp_path / "r" / "subscribers.csv"
    (row,) = csv.DictReader(io.StringIO(written.read_text("utf-8"), newline=""))
    assert (row["subscriber_id"], row["source"]) == ("x", "Zürich, HB")
    written.write_text(written.read_text("utf-8").replace("x,", "2,", 1), "utf-8")
    publisher.load_folder(tmp_path / "r")
    assert [row["source"] for row in publisher.table("subscribers")] == ["ok", "Zürich, HB", None]


@pytest.mark.parametrize(
    ("name", "format_"), [("Export 1.xlsx", ""), ("Export 1.XLSX", 'format = "xlsx"')]
)
def test_rejected_rows_of_a_mapped_workbook_load_with_its_mapping(
    publisher: Publisher, tmp_path: Path, name: str, format_: str
) -> None:
    """docs/mapping.md, "Values": the numbers of a workbook have a point, also in these rows."""
    mapping = f"""
        [[files]]
        name = "Export *.{name[-4:]}"
        {format_}
        decimal = ","
        dates = "D.M.YYYY"
        [files.tables.subscribers]
        subscriber_id = "No"
        [files.tables.purchases]
        except = {{ Invoice = [""] }}
        purchase_id = "Invoice"
        subscriber_id = "No"
        total = "Amount"
        [files.tables.subscriptions]
        except = {{ Invoice = [""] }}
        subscription_id = "Invoice"
        subscriber_id = "No"
        publication_id = {{ constant = 1 }}
        type = {{ constant = "Print" }}
        date_created = "Since"
        """
    publisher.load({"publications.csv": "publication_id,name\n1,Tide\n"})
    rows = [("No", "Invoice", "Amount", "Since"), (1, "x", 1.234, date(2025, 12, 31)), (2,)]
    loaded = load_mapped(publisher, {name: workbook(rows)}, mapping, reject=tmp_path / "r")
    assert loaded.rejected == {f"{name}.csv": 1}
    rejected = (tmp_path / "r" / f"{name}.csv").read_text("utf-8")
    load_mapped(publisher, {f"{name}.csv": rejected.replace("1,x,", "1,5,")}, mapping)
    (purchase,) = publisher.table("purchases")
    (subscription,) = publisher.table("subscriptions")
    assert purchase["total"] == "1.234"
    assert subscription["date_created"] == "2025-12-31"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"subscriber_id\n1\n",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        b"PK\x05\x06" + bytes(18),
        workbook([("subscriber_id",)])[:-30],
        with_parts(workbook([("subscriber_id",)]), {SHEET: b"<worksheet"}),
        with_parts(workbook([("subscriber_id",)]), {"xl/workbook.xml": b"<a"}),
    ],
    ids=["empty", "csv", "old or with a password", "empty zip", "cut off", "sheet", "book"],
)
def test_a_file_that_is_not_a_workbook_is_refused_by_name(
    publisher: Publisher, content: bytes
) -> None:
    (line,) = publisher.problems({"subscribers.xlsx": content})
    assert line.startswith("subscribers.xlsx: not an XLSX workbook that can be read: ")


def test_a_workbook_is_not_packed_again(publisher: Publisher) -> None:
    (line,) = publisher.problems({"subscribers.xlsx.gz": b""})
    assert "there is no file to load" in line


def test_cells_at_the_far_end_of_a_sheet_take_no_memory(publisher: Publisher) -> None:
    """rules, "Workbooks": of the libraries, one reserves half a terabyte for this."""
    content = workbook([("subscriber_id",), (1,)])
    far = (
        '<row r="1"><c r="A1" t="str"><v>subscriber_id</v></c></row><row r="2"><c r="A2"><v>1</v>'
        '</c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    )
    line = publisher.problem({"subscribers.xlsx": with_parts(content, {SHEET: sheet_xml(far)})})
    assert line == f"subscribers.xlsx:1048576: has 16384 cells, and a row may have {CELLS_MAX}"
    beyond = far.replace("XFD1048576", "A99999999999").replace('"1048576"', '"99999999999"')
    line = publisher.problem({"subscribers.xlsx": with_parts(content, {SHEET: sheet_xml(beyond)})})
    assert line == "subscribers.xlsx: has more than 1048576 rows, the most of a sheet"


def test_a_workbook_that_grows_out_of_all_proportion_is_refused(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Workbooks"."""
    content = with_parts(workbook([("subscriber_id",)]), {SHEET: bytes(70_000_000)})
    (line,) = publisher.problems({"subscribers.xlsx": content})
    assert line.startswith("subscribers.xlsx: unpacks to 66 MiB, which no workbook of records does")
    monkeypatch.setattr(xlsx, "UNPACKED_MAX", 1_000)
    (line,) = publisher.problems({"subscribers.xlsx": workbook([("subscriber_id",)])})
    assert "which no workbook of records does" in line


STRINGS = """<sst><si><t>id</t></si><si><t>cell</t></si><si><t xml:space="preserve"> a </t></si>
<si><r><rPr><b/></rPr><t>bold</t></r><r><t> and not</t></r></si>
<si><t>\u6771\u4eac</t><rPh sb="0" eb="2"><t>spoken</t></rPh></si><si/>
<si><t>_x005F_x41_</t></si></sst>"""
STYLES = """<styleSheet><numFmts><numFmt numFmtId="170" formatCode="DD/MM/YYYY"/>
<numFmt numFmtId="171" formatCode="[h]:mm:ss"/>
<numFmt numFmtId="172" formatCode="0.0&quot;d&quot;"/>
</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>
<xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="172"/></cellXfs>
</styleSheet>"""
CELLS = {
    '<c t="s"><v>2</v></c>': " a ",
    '<c t="s"><v>3</v></c>': "bold and not",
    '<c t="s"><v>4</v></c>': "\u6771\u4eac",
    '<c t="s"><v>5</v></c>': "",
    '<c t="s"><v>6</v></c>': "_x41_",
    '<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh><t>x</t></rPh></is></c>': "inline",
    '<c s="1"><v>46022</v></c>': "2025-12-31",
    '<c s="2"><v>46022.5</v></c>': "2025-12-31 12:00:00",
    '<c s="3"><v>1.5</v></c>': "36:00:00",
    '<c s="4"><v>46022</v></c>': "46022",
    '<c t="b"><v>1</v></c>': "true",
    '<c t="str"><f>A1</f><v>of a formula</v></c>': "of a formula",
    '<c t="d"><v>2025-12-31T10:00:00</v></c>': "2025-12-31 10:00:00",
    "<c><f>1+1</f><v>2</v></c>": "2",
    '<c t="str"><f>IF(1,"")</f><v></v></c>': "",
    "<c><f>A1</f><v></v></c>": "=A1",
    '<c t="e"><f>A1</f><v>#NEW!</v></c>': "#NEW!",
    "<c><v>1E3</v></c>": "1000",
    '<c s="1"><v></v></c>': "",
}
"""What spreadsheets write, and what it means; the strings are those above."""


@pytest.mark.parametrize("is_named", [True, False])
def test_cells_mean_what_they_do_in_a_spreadsheet(tmp_path: Path, *, is_named: bool) -> None:
    """rules, "Workbooks": strings of all cells, styles, formulas; with a prefix or without."""
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    for line, cell in enumerate(CELLS, 2):
        rows += f'<row r="{line}"><c r="A{line}"><v>{line}</v></c>{cell}</row>'
    parts = {
        SHEET: sheet_xml(rows),
        "xl/sharedStrings.xml": STRINGS.encode(),
        "xl/styles.xml": STYLES.encode(),
    }
    content = workbook([])
    if is_named:
        parts[SHEET] = parts[SHEET].replace(b"<", b"<x:").replace(b"<x:/", b"</x:")
        parts[SHEET] = parts[SHEET].replace(b"xmlns=", b"xmlns:x=")
        with zipfile.ZipFile(io.BytesIO(content)) as before:
            related = before.read("xl/_rels/workbook.xml.rels").decode()
        more = '<Relationship Id="s" Type="http://x/sharedStrings" Target="other.xml"/></Rel'
        parts["xl/_rels/workbook.xml.rels"] = related.replace("</Rel", more).encode()
        parts["xl/other.xml"] = parts.pop("xl/sharedStrings.xml")
    found = read(tmp_path, with_parts(content, parts))
    assert [row["cell"] for row in found] == [*CELLS.values()]


def test_a_workbook_can_count_its_days_from_1904(tmp_path: Path) -> None:
    content = workbook([("id", "day"), (1, date(2025, 12, 31))])
    with zipfile.ZipFile(io.BytesIO(content)) as before:
        written = before.read("xl/workbook.xml")
    book = re.sub(rb"<workbookPr[^>]*/>", b'<workbookPr date1904="1"/>', written)
    (row,) = read(tmp_path, with_parts(content, {"xl/workbook.xml": book}))
    assert row["day"] == "2030-01-01"


def test_rows_that_are_not_in_their_order_are_refused(tmp_path: Path) -> None:
    rows = sheet_xml('<row r="2"><c><v>1</v></c></row><row r="1"><c><v>2</v></c></row>')
    found = refusal(tmp_path, with_parts(workbook([]), {SHEET: rows}))
    assert "not an XLSX workbook that can be read" in found


TOO_MUCH: dict[str, tuple[str, str, str]] = {
    "cells": (SHEET, sheet_xml(f"<row>{'<c/>' * 17_000}</row>").decode(), "16385 cells, and a row"),
    "blank cells": (SHEET, sheet_xml("<row><c/></row>" * 40_000).decode(), "elements and more"),
    "elements beside": (SHEET, sheet_xml("<a/>" * 40_000).decode(), "elements and more"),
    "styles": ("xl/styles.xml", f"<s><cellXfs>{'<xf/>' * 40_000}</cellXfs></s>", "elements and m"),
    "strings": ("xl/sharedStrings.xml", f"<sst>{'<si/>' * 40_000}</sst>", "elements and more"),
    "sheets": ("xl/workbook.xml", f"<w>{'<sheet/>' * 40_000}</w>", "elements and more"),
    "sheets of a part": ("xl/workbook.xml", f"<w>{'<sheet/>' * 25_000}</w>", "elements and m"),
    "formats": (
        "xl/styles.xml",
        "<s><cellXfs>"
        + "".join(map('<xf numFmtId="{}"/>'.format, range(2_001)))
        + "</cellXfs></s>",
        "more than 2000 number formats",
    ),
    "a tag": (SHEET, sheet_xml(f"<row a='{'a' * 3_000_000}'/>").decode(), "tag of more than 1 MiB"),
    "a comment": (SHEET, sheet_xml(f"<!--{'a' * 3_000_000}-->").decode(), "tag of more than 1 MiB"),
    "depth": (SHEET, sheet_xml("<a>" * 200).decode(), "101 deep"),
    "names": (SHEET, sheet_xml("".join(f"<a b{n}=''/>" for n in range(900))).decode(), "kinds"),
    "entities": (SHEET, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "declares a document type"),
    "a text": (
        SHEET,
        sheet_xml(f"<row><c t='str'><v>{'a' * 17_000_000}</v></c></row>").decode(),
        "1: longer than 16 MiB",
    ),
}


def test_what_no_workbook_of_records_needs_is_refused_as_soon_as_it_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Workbooks": more memory or time than the rows need is refused."""
    monkeypatch.setattr("masthead.loading.package_parts._FREE_ELEMENTS", 30_000)
    monkeypatch.setattr("masthead.loading.package_parts._ELEMENTS_A_BYTE", 0)
    monkeypatch.setattr("masthead.loading.package_parts._NAMES_MAX", 500)
    monkeypatch.setattr("masthead.loading.workbook._LISTED_MAX", 20_000)
    plain = workbook([("id",), (1,)])
    assert read(tmp_path, plain) == [{"id": "1"}]
    for name, (part, content, said) in TOO_MUCH.items():
        found = refusal(tmp_path, with_parts(plain, {part: content.encode()}))
        assert said in found, (name, found)
        assert "not an XLSX workbook" not in found
    parts = with_parts(plain, {})
    with zipfile.ZipFile(more := io.BytesIO(parts), "a") as archive:
        for number in range(20_000):
            archive.writestr(f"{number:099}", b"")
    assert "not an XLSX workbook" in refusal(tmp_path, more.getvalue())


def test_parts_that_say_nothing_of_cells_are_not_read(tmp_path: Path) -> None:
    plain = workbook([("id",), (1,)])
    more = {"docProps/core.xml": b"<a", "xl/theme/theme1.xml": b"x" * 1_000_000}
    assert read(tmp_path, with_parts(plain, more)) == [{"id": "1"}]


def test_a_size_that_a_workbook_pretends_is_not_exceeded(tmp_path: Path) -> None:
    """A part is read as far as its directory says, and no further."""
    packed = bytearray(with_parts(workbook([("id",)]), {SHEET: sheet_xml(" " * 9_000_000)}))
    with zipfile.ZipFile(io.BytesIO(packed)) as parts:
        size = parts.getinfo(SHEET).file_size
    packed = packed.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert "not an XLSX workbook" in refusal(tmp_path, bytes(packed))
