"""Reading the rows of a file in any format, without knowing what its columns mean."""

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

from masthead.errors import BadInput
from masthead.loading.batches import NOTHING_SAID, Batch, Known, Said
from masthead.loading.delimited import delimited_batches, delimited_rows
from masthead.loading.detection import Detected, detect
from masthead.loading.ndjson import ToCells, any_text, ndjson_batches, ndjson_lines
from masthead.loading.unpacking import ENDINGS, opened
from masthead.loading.xlsx import xlsx_batches, xlsx_rows

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".xlsx": "xlsx",
}
"""The format of a file by its extension before ``.gz`` and ``.zst``, in lower case."""


def stem_and_format(path: Path) -> tuple[str, str]:
    """Return the name of a file without its extensions, and its format; "" if it is unknown."""
    ending = ending_of(path)
    format_ = FORMATS.get(ending.lower(), "")
    name = path.name if format_ == "xlsx" else unpacked_name(path)
    return name.removesuffix(ending), format_


def ending_of(path: Path) -> str:
    """Return the extension that shows the format of a file, "" for a name without one."""
    for ending, format_ in FORMATS.items():
        # A workbook is already compressed.
        name = path.name if format_ == "xlsx" else unpacked_name(path)
        if name.lower().endswith(ending):
            return name[-len(ending) :]
    return ""


def unpacked_name(path: Path) -> str:
    """Return the name of a file without ``.gz`` and ``.zst``."""
    name = path.name
    for ending in ENDINGS:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return name


def complete(path: Path, label: str, said: Said = NOTHING_SAID) -> Detected:
    """Fill in what ``said`` leaves open: the format from the file's name, the rest from its bytes.

    A file whose settings are complete is not read again. Raises BadInput as :func:`detect` does.
    """
    if isinstance(said, Known):
        return Detected(said, None)
    if said.format is None:
        said = said._replace(format=stem_and_format(path)[1] or "csv")
    if said.format not in FORMATS.values():
        raise BadInput(f"{label}: there is no format {said.format!r}")
    if said.format == "xlsx":
        return Detected(Known(*said), None)
    return detect(path, label, said)


def source_batches(
    path: Path,
    label: str,
    said: Said = NOTHING_SAID,
    *,
    to_cells: ToCells = any_text,
    allow_truncated: bool = False,
) -> Iterator[Batch]:
    """Yield the rows of a file in batches of at most 2,000 and about 16 MiB.

    The columns have the file's own names, unchecked; the first batch of a file with a header has
    them even if there is no row. What ``said`` leaves open is detected. ``to_cells`` makes cells
    from an object of NDJSON, or raises ValueError. Raises BadInput, with file and line, for broken
    compression or quotes, a row of more than 16 MiB or 10,000 cells, a file that looks cut off
    unless ``allow_truncated``, and a workbook that cannot be read.
    """
    said = complete(path, label, said).said
    if said.format == "xlsx":
        yield from xlsx_batches(path, label, said)
        return
    with opened(path, label) as (unpacked, raw):
        if said.format == "ndjson":
            yield from ndjson_batches(
                unpacked, raw, label, said, to_cells=to_cells, allow_truncated=allow_truncated
            )
        else:
            yield from delimited_batches(
                unpacked, raw, label, said, allow_truncated=allow_truncated
            )


def headed_batches(path: Path, label: str, *, allow_truncated: bool = False) -> Iterator[Batch]:
    """Yield the rows of a file as :func:`source_batches` does.

    Raises BadInput, too, for an empty file that should have a header, such as of a failed export.
    """
    for batch in source_batches(path, label, allow_truncated=allow_truncated):
        if not batch.columns and not batch.lines and stem_and_format(path)[1] != "ndjson":
            raise BadInput(f"{label} is empty: its first line should name the columns")
        yield batch


def source_rows(
    path: Path, label: str, said: Said = NOTHING_SAID
) -> Generator[tuple[int, list[str] | bytes], None, None]:
    """Yield the line number of each row and its unparsed cells, or for NDJSON its UTF-8 bytes.

    The first row with cells is the header. Raises BadInput as :func:`source_batches` does, but not
    for a file that looks cut off.
    """
    said = complete(path, label, said).said
    if said.format == "xlsx":
        yield from xlsx_rows(path, label, said)
        return
    with opened(path, label) as (unpacked, _):
        if said.format == "ndjson":
            yield from ndjson_lines(unpacked, label, said)
        else:
            yield from delimited_rows(unpacked, label, said)


def header_of(path: Path, label: str, said: Said) -> tuple[int, list[str]]:
    """Return the line and the names of a header, for the formats that have one.

    Raises BadInput as :func:`source_rows` does.
    """
    with closing(source_rows(path, label, said)) as rows:
        line, header = next(rows, (1, []))
    assert isinstance(header, list)
    return line, [name.removeprefix("\ufeff") for name in header]
