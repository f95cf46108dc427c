"""Makes XLSX workbooks."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import openpyxl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def workbook(rows: Iterable[Sequence[object]], **sheets: Iterable[Sequence[object]]) -> bytes:
    """Return a workbook with the rows in its first sheet, and further sheets by their names."""
    book = openpyxl.Workbook()
    assert book.active
    book.active.title = "First"
    for name, those in {"First": rows, **sheets}.items():
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        for row in those:
            sheet.append(list(row))
    return packed(book)


def packed(book: openpyxl.Workbook) -> bytes:
    """Return the file of a workbook."""
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def with_parts(packed: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Return a workbook some of whose parts are replaced, or added."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(packed)) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            after.writestr(name, parts.get(name, before.read(name)))
        for name in parts.keys() - set(before.namelist()):
            after.writestr(name, parts[name])
    return out.getvalue()


def sheet_xml(data: str) -> bytes:
    """Return the XML of a sheet with the rows of ``data``."""
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{namespace}"><sheetData>{data}</sheetData></worksheet>'.encode()
