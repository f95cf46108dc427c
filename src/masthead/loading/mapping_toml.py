"""Reading mapping files (TOML).

A mapping is read once, before any file; all its mistakes are reported together, each with its
place, such as ``files[2].tables.subscribers.type``.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from masthead.contract.passwords import FILE_COLUMNS
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.errors import BadInput
from masthead.loading.batches import Said
from masthead.loading.checks import SECRET, fields_by_name
from masthead.loading.mapping import (
    Condition,
    Each,
    FileMapping,
    Source,
    TableMapping,
    columns_of,
)
from masthead.loading.mapping_dates import form_of, forms_of
from masthead.loading.mapping_missing import subjects
from masthead.loading.mapping_sources import SourceReader
from masthead.loading.mapping_values import Column, Writing
from masthead.loading.regular_files import open_regular
from masthead.loading.templates import Split
from masthead.loading.toml_reading import Mistakes, no_such, quoted
from masthead.loading.words import words_of
from masthead.store.staging import NUMBERS_PER_FILE

MAPPING_BYTES_MAX = 1024 * 1024
_RECORDS_MAX = NUMBERS_PER_FILE - 2
_HEADER_ROWS_MAX = 3
_LINE_MAX = 1_000
_CONDITIONS = ("only", "except")

_Words = dict[str, list[str | int]]


class _File(Struct, forbid_unknown_fields=True):
    name: str
    tables: dict[str, Any]
    format: Literal["csv", "tsv", "ndjson", "xlsx"] | None = None
    encoding: str | None = None
    separator: str | None = None
    quote: str | None = None
    sheet: str | None = None
    header: int | list[int] | None = None
    skip_last: int = 0
    dates: str | list[str] = "YYYY-MM-DD"
    decimal: Literal[".", ","] | None = None
    currency: str | None = None
    yes: list[str] = []
    no: list[str] = []
    empty: list[str] = []
    ignore: list[str] = []
    split: dict[str, str | list[str]] = {}
    each: str | dict[str, Any] | None = None
    only: _Words = {}
    excepted: _Words = field(name="except", default_factory=dict)


class _Each(Struct, forbid_unknown_fields=True):
    column: str
    between: str


class _Conditions(Struct, forbid_unknown_fields=True):
    only: _Words = {}
    excepted: _Words = field(name="except", default_factory=dict)


def read_mapping(path: Path, *, is_delivered: bool = False) -> tuple[FileMapping, ...]:
    """Return the mapping in the file ``path``.

    Raises BadInput with a line for each mistake: ``publisher.toml: files[0].dates: …``. If the
    mapping ``is_delivered`` with the files, raises BadInput for a link too.
    """
    try:
        with open_regular(path) if is_delivered else path.open("rb") as file:
            raw = file.read(MAPPING_BYTES_MAX + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    if len(raw) > MAPPING_BYTES_MAX:
        raise BadInput(f"{path}: longer than {MAPPING_BYTES_MAX >> 20} MiB: this is no mapping")
    return parse_mapping(raw, path.name)


def parse_mapping(raw: bytes, label: str) -> tuple[FileMapping, ...]:
    """Return the mapping in the bytes of a file; messages call it ``label``.

    Raises BadInput as :func:`read_mapping` does.
    """
    try:
        decoded = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{label}: is not UTF-8: {error}") from error
    except RecursionError:
        raise BadInput(f"{label}: not TOML: nested too deeply") from None
    except ValueError as error:
        raise BadInput(f"{label}: not TOML: {error}") from error
    mistakes = Mistakes()
    files = tuple(_files(decoded, mistakes))
    if mistakes.found:
        raise BadInput("\n".join(f"{label}: {mistake}" for mistake in mistakes.found))
    return files


def _files(decoded: dict[str, Any], mistakes: Mistakes) -> Iterator[FileMapping]:
    for name in [name for name in decoded if name != "files"]:
        mistakes.add(quoted(name), no_such("key", name, ["files"]))
    entries = decoded.get("files")
    if not isinstance(entries, list) or not entries:
        mistakes.add("files", "missing: a mapping has a list [[files]], one for each source")
        return
    for number, entry in enumerate(entries):
        place = f"files[{number}]"
        before = len(mistakes.found)
        file = mistakes.struct(_File, entry, place)
        mapping = file and _Entry(place, file, mistakes).mapping()
        if mapping and len(mistakes.found) == before:
            yield mapping


class _Entry:
    """Reads an entry of a mapping, and adds its mistakes."""

    def __init__(self, place: str, file: _File, mistakes: Mistakes) -> None:
        self._place = place
        self._file = file
        self._mistakes = mistakes

    def mapping(self) -> FileMapping:
        """Return what the entry says; it is of use only if there is no mistake."""
        place, file = self._place, self._file
        if not file.name:
            self._add("name", "empty: it is a pattern for names of files")
        if not file.tables:
            self._add("tables", "names no table")
        said = self._said()
        writing = self._writing()
        splits = self._splits()
        tables = tuple(self._tables(writing))
        if len(tables) > _RECORDS_MAX:
            self._add("tables", f"has {len(tables)} records, and may have {_RECORDS_MAX}")
        mapping = FileMapping(
            place,
            file.name,
            writing,
            tables,
            words_of(file.ignore),
            said,
            splits,
            _condition(file.only, file.excepted),
            self._each(),
        )
        self._check_names(mapping)
        self._check_keys(mapping)
        return mapping

    def _add(self, name: str, sentence: str) -> None:
        self._mistakes.add(f"{self._place}.{name}", sentence)

    def _said(self) -> Said:
        file = self._file
        for name in ("separator", "quote"):
            if (sign := getattr(file, name)) is not None and len(sign) != 1:
                self._add(name, "has to be one character")
        if file.encoding is not None and not _is_encoding(file.encoding):
            self._add("encoding", f"there is no encoding {file.encoding[:40]!r}")
        header = [file.header] if isinstance(file.header, int) else file.header or []
        are_lines = all(1 <= line <= _LINE_MAX for line in header) and sorted(set(header)) == header
        if file.header is not None and not (are_lines and 0 < len(header) <= _HEADER_ROWS_MAX):
            self._add(
                "header",
                f"has to be the line of the names, from 1 to {_LINE_MAX}, or a list of at most "
                f"{_HEADER_ROWS_MAX} lines whose names are joined, such as [4, 5]",
            )
        if not 0 <= file.skip_last <= _LINE_MAX:
            self._add("skip_last", f"has to be a number of rows, from 0 to {_LINE_MAX}")
        if file.format == "ndjson":
            for name in ("header", "skip_last"):
                if getattr(file, name):
                    self._add(name, "NDJSON has neither a header nor notes at its end")
        return Said(
            file.format,
            file.encoding,
            file.separator,
            file.quote,
            file.sheet,
            tuple(header),
            file.skip_last,
        )

    def _writing(self) -> Writing:
        file = self._file
        dates = (file.dates,) if isinstance(file.dates, str) else tuple(file.dates)
        try:
            forms_of(dates)
            without_day = next((form for form in dates if not form_of(form).has_day), None)
            if without_day:
                self._add(
                    "dates",
                    f'{without_day!r} has no day: say it at the column, with day = "last" or '
                    '"first"',
                )
            if not dates:
                self._add("dates", "has no form: leave it out")
        except ValueError as error:
            self._add("dates", str(error))
        yes, no = ({word.strip().casefold() for word in words} for words in (file.yes, file.no))
        for word in sorted(yes & no):
            self._add("no", f"{word!r} is in yes too")
        if file.currency is not None and not file.currency.strip():
            self._add("currency", "empty: leave it out")
        empty = frozenset(word.strip() for word in file.empty)
        return Writing(dates, file.decimal, file.currency, frozenset(yes), frozenset(no), empty)

    def _splits(self) -> dict[str, tuple[Split, ...]]:
        found = {}
        for column, given in self._file.split.items():
            templates = [given] if isinstance(given, str) else given
            splits = []
            if not templates:
                self._add(f"split.{quoted(column)}", "has no template")
            for template in templates:
                try:
                    splits.append(Split(template))
                except ValueError as error:
                    self._add(f"split.{quoted(column)}", f"the template {template[:100]!r} {error}")
            found[column] = tuple(splits)
        return found

    def _each(self) -> Each | None:
        given = self._file.each
        if isinstance(given, dict):
            cell = self._mistakes.struct(_Each, given, f"{self._place}.each")
            if cell and not cell.between.strip():
                self._add("each.between", "has to be a sign that stands between the items")
            return cell and Each(cell.column, cell.between.strip())
        if given is not None and given.count("*") != 1:
            self._add(
                "each",
                "has to have one *, which stands for the number of an item, such as 'items.*.name'",
            )
        return None if given is None else Each(given)

    def _tables(self, writing: Writing) -> Iterator[TableMapping]:
        for name, given in self._file.tables.items():
            place = f"{self._place}.tables.{quoted(name)}"
            table = TABLES_BY_NAME.get(name)
            if table is None:
                self._mistakes.add(place, no_such("table", name, TABLES_BY_NAME))
                continue
            records = given if isinstance(given, list) else [given]
            if not records:
                self._mistakes.add(place, "has no record")
            for number, columns in enumerate(records):
                at = f"{place}[{number}]" if isinstance(given, list) else place
                if isinstance(columns, dict):
                    yield self._table(at, table, columns, writing)
                else:
                    self._mistakes.add(at, "has to be a table")

    def _table(
        self, place: str, table: Table, columns: Mapping[str, Any], writing: Writing
    ) -> TableMapping:
        mistakes = self._mistakes
        fields = fields_by_name(table)
        reading = SourceReader(table, writing, mistakes)
        found: dict[str, Source] = {}
        conditions = {name: columns[name] for name in _CONDITIONS if name in columns}
        given = mistakes.struct(_Conditions, conditions, place)
        for name, value in columns.items():
            at = f"{place}.{quoted(name)}"
            if name in _CONDITIONS:
                continue
            if name not in fields:
                mistakes.add(at, no_such("column", name, fields))
            elif (source := reading.source(at, fields[name], value)) is not None:
                found[name] = source
        for name in table.key:
            if name not in columns:
                mistakes.add(f"{place}.{name}", f"missing: the key of {table.name}")
        if "password" in columns and (other := columns.keys() & set(FILE_COLUMNS[1:])):
            mistakes.add(f"{place}.password", f"there is a {min(other)} too: one is enough")
        return TableMapping(table, found, place, _condition(given.only, given.excepted))

    def _check_keys(self, mapping: FileMapping) -> None:
        """Report a default for the key of what the file is about: all lost keys would be one."""
        for mapped in mapping.tables:
            if mapped.table.name in subjects(mapping.tables) and len(mapped.table.key) == 1:
                (key,) = mapped.table.key
                source = mapped.sources.get(key)
                if isinstance(source, Column) and source.columns and source.is_always_there:
                    self._mistakes.add(
                        f"{mapped.place}.{key}",
                        "an empty key has no default: rows without a key would be one record",
                    )

    def _check_names(self, mapping: FileMapping) -> None:
        """Report columns that are used and ignored, and parts that are neither or have no name."""
        used, columns, parts = mapping.used(), mapping.columns(), mapping.origins()
        for number, name in enumerate(self._file.ignore):
            if name.strip() in used or name.strip() in columns:
                place = (used | columns)[name.strip()]
                self._add(f"ignore[{number}]", f"{name.strip()!r} is used in {place}")
        for name, column in parts.items():
            at = f"split.{quoted(column)}"
            if name in mapping.splits:
                self._add(at, f"the part {name!r} has the name of a column that is split")
            elif name not in used and not mapping.ignore.has(name):
                self._add(at, f"the part {name!r} is used by no table; use it or add it to ignore")
        for mapped in mapping.tables:
            for target, source in mapped.sources.items():
                if target in SECRET and not parts.keys().isdisjoint(columns_of(source)):
                    at = f"{mapped.place}.{target}"
                    self._mistakes.add(at, "has to be a whole cell, and not a part of one")
        counts = Counter(
            name
            for splits in mapping.splits.values()
            for name in dict.fromkeys(name for split in splits for name in split.names)
        )
        for name in (name for name, count in counts.items() if count > 1):
            self._add("split", f"two columns have a part {name!r}")


def _condition(only: _Words, excepted: _Words) -> Condition:
    return Condition(
        *(
            {column: words_of(map(str, words)) for column, words in given.items()}
            for given in (only, excepted)
        )
    )


def _is_encoding(name: str) -> bool:
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        return False
    return True
