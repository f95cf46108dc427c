"""Mapping files: how files of another system become rows of Masthead's tables (TOML).

The format is described in ``docs/mapping.md``. A mapping is read once, before any file; all its
mistakes are reported together, each with its place, such as ``files[2].tables.subscribers.type``.
How rows are mapped is in ``mapping_rows.py``, how single values are read in ``mapping_values.py``.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Struct

from masthead.contract.kinds import Identifier, Text
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.contract.shapes import Field
from masthead.errors import BadInput
from masthead.loading.batches import NOTHING_SAID, Said
from masthead.loading.checks import with_value
from masthead.loading.mapping_values import Column, Writing, day_pattern, reader
from masthead.loading.regular_files import open_regular

__all__ = [
    "Column",
    "FileMapping",
    "Key",
    "Source",
    "TableMapping",
    "columns_of",
    "fields_by_name",
    "nearest",
    "parse_mapping",
    "read_mapping",
    "target_of",
]

MAPPING_BYTES_MAX = 1024 * 1024
_SHOWN_MAX = 100
"""The maximum number of characters of a name that a message quotes."""

_PASSWORD = Field("password", Text(), TABLES_BY_NAME["subscribers"].columns[1].missing)
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number with a fraction",
    "array": "a list",
    "object": "a table",
}
_EXPECTED = re.compile(r"Expected (`[^`]+`), got (`[^`]+`)")
_AT = re.compile(r" - at `\$(.*)`$")


class Key(NamedTuple):
    """An id made from ``columns``; ``of`` names what it identifies, in general a table.

    A row has no id if all ``columns`` are empty, or all columns of ``when``.
    """

    columns: tuple[str, ...]
    of: str
    when: tuple[str, ...] = ()


Source = Column | Key


class TableMapping(NamedTuple):
    """A table, and where each of its columns comes from."""

    table: Table
    sources: Mapping[str, Source]


class FileMapping(NamedTuple):
    """How the files whose name matches ``pattern`` are read; ``place`` is its place in the TOML."""

    place: str
    pattern: str
    writing: Writing
    tables: tuple[TableMapping, ...]
    ignore: frozenset[str]
    said: Said = NOTHING_SAID

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether the pattern matches one of a file's names."""
        return any(fnmatchcase(name, self.pattern) for name in names)

    def columns(self) -> dict[str, str]:
        """Return the columns of the source that are used, each with the place of its first use."""
        used: dict[str, str] = {}
        for table, sources in self.tables:
            for target, source in sources.items():
                for name in columns_of(source):
                    used.setdefault(name, f"{self.place}.tables.{table.name}.{target}")
        return used


def columns_of(source: Source) -> tuple[str, ...]:
    """Return the columns of the source from which a column of a table comes."""
    if isinstance(source, Key):
        return (*source.columns, *source.when)
    return () if source.column is None else (source.column,)


class _File(Struct, forbid_unknown_fields=True):
    name: str
    tables: dict[str, dict[str, Any]]
    format: Literal["csv", "tsv", "ndjson", "xlsx"] | None = None
    encoding: str | None = None
    separator: str | None = None
    quote: str | None = None
    sheet: str | None = None
    dates: str = "YYYY-MM-DD"
    decimal: Literal[".", ","] | None = None
    currency: str | None = None
    yes: list[str] = []
    no: list[str] = []
    empty: list[str] = []
    ignore: list[str] = []


class _Constant(Struct, forbid_unknown_fields=True):
    constant: str | int | bool


class _Column(Struct, forbid_unknown_fields=True):
    column: str
    values: dict[str, str | int | bool] | None = None
    default: str | int | bool | None = None
    dates: str | None = None


class _Key(Struct, forbid_unknown_fields=True):
    key: list[str]
    of: str | None = None
    when: list[str] = []


_FORMS: dict[str, type[Struct]] = {"constant": _Constant, "key": _Key, "column": _Column}


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
    """Return the mapping in the bytes of a file; messages call it ``label``."""
    try:
        decoded = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{label}: is not UTF-8: {error}") from error
    except RecursionError:
        raise BadInput(f"{label}: not TOML: nested too deeply") from None
    except ValueError as error:
        raise BadInput(f"{label}: not TOML: {error}") from error
    reading = _Reading()
    files = tuple(reading.files(decoded))
    if reading.mistakes:
        raise BadInput("\n".join(f"{label}: {mistake}" for mistake in reading.mistakes))
    return files


class _Reading:
    """Reads a decoded mapping, and collects its mistakes."""

    def __init__(self) -> None:
        self.mistakes: list[str] = []

    def _mistake(self, place: str, sentence: str) -> None:
        self.mistakes.append(f"{place}: {sentence}")

    def files(self, decoded: dict[str, Any]) -> Iterator[FileMapping]:
        for name in [name for name in decoded if name != "files"]:
            self._mistake(_quoted(name), _no_such("key", name, ["files"]))
        entries = decoded.get("files")
        if not isinstance(entries, list) or not entries:
            self._mistake("files", "missing: a mapping has a list [[files]], one for each source")
            return
        for number, entry in enumerate(entries):
            place = f"files[{number}]"
            before = len(self.mistakes)
            file = self._struct(_File, entry, place)
            mapping = file and self._file(place, file)
            if mapping and len(self.mistakes) == before:
                yield mapping

    def _struct(self, form: type[Struct], value: object, place: str) -> Any:
        """Return the correct part of ``value`` as a ``form``; None if a required key is missing."""
        if not isinstance(value, dict):
            self._mistake(place, "has to be a table")
            return None
        types = get_type_hints(form)
        required = {field.name for field in msgspec.structs.fields(form) if field.required}
        found = {}
        for name in [name for name in value if name not in types]:
            self._mistake(f"{place}.{_quoted(name)}", _no_such("key", name, types))
        for name in [name for name in types if name in required - value.keys()]:
            self._mistake(f"{place}.{name}", "missing")
        for name, type_ in types.items():
            if name in value:
                try:
                    found[name] = msgspec.convert(value[name], type_)
                except msgspec.ValidationError as error:
                    sentence = str(error)
                    at = _AT.search(sentence)
                    inner = at.group(1) if at else ""
                    problem = _translated(_AT.sub("", sentence), type_)
                    self._mistake(f"{place}.{name}{inner}", problem)
        return form(**found) if required <= found.keys() else None

    def _file(self, place: str, file: _File) -> FileMapping | None:
        if not file.name:
            self._mistake(f"{place}.name", "empty: it is a pattern for names of files")
        if not file.tables:
            self._mistake(f"{place}.tables", "names no table")
        for name in ("separator", "quote"):
            if (sign := getattr(file, name)) is not None and len(sign) != 1:
                self._mistake(f"{place}.{name}", "has to be one character")
        if file.encoding is not None and not _is_encoding(file.encoding):
            self._mistake(f"{place}.encoding", f"there is no encoding {file.encoding[:40]!r}")
        writing = self._writing(place, file)
        tables = []
        for name, columns in file.tables.items():
            at = f"{place}.tables.{_quoted(name)}"
            table = TABLES_BY_NAME.get(name)
            if table is None:
                self._mistake(at, _no_such("table", name, TABLES_BY_NAME))
            else:
                tables.append(TableMapping(table, self._table(at, table, columns, writing)))
        mapping = FileMapping(
            place,
            file.name,
            writing,
            tuple(tables),
            frozenset(file.ignore),
            Said(file.format, file.encoding, file.separator, file.quote, file.sheet),
        )
        used = mapping.columns()
        for number, name in enumerate(file.ignore):
            if name in used:
                self._mistake(f"{place}.ignore[{number}]", f"{name!r} is used in {used[name]}")
        return mapping

    def _writing(self, place: str, file: _File) -> Writing:
        self._day(f"{place}.dates", file.dates)
        yes, no = ({word.strip().casefold() for word in words} for words in (file.yes, file.no))
        for word in sorted(yes & no):
            self._mistake(f"{place}.no", f"{word!r} is in yes too")
        if file.currency is not None and not file.currency.strip():
            self._mistake(f"{place}.currency", "empty: leave it out")
        empty = frozenset(word.strip() for word in file.empty)
        return Writing(
            file.dates, file.decimal, file.currency, frozenset(yes), frozenset(no), empty
        )

    def _day(self, place: str, dates: str) -> None:
        try:
            day_pattern(dates)
        except ValueError as error:
            self._mistake(place, str(error))

    def _table(
        self, place: str, table: Table, columns: dict[str, Any], writing: Writing
    ) -> dict[str, Source]:
        fields = fields_by_name(table)
        found: dict[str, Source] = {}
        for name, value in columns.items():
            at = f"{place}.{_quoted(name)}"
            if name not in fields:
                self._mistake(at, _no_such("column", name, fields))
            elif (source := self._source(at, table, fields[name], value)) is not None:
                found[name] = source
                self._check_values(at, fields[name], source, writing)
        for name in table.key:
            if name not in columns:
                self._mistake(f"{place}.{name}", f"missing: the key of {table.name}")
        if {"password", "password_md5"} <= columns.keys():
            self._mistake(f"{place}.password", "there is a password_md5 too: one is enough")
        return found

    def _source(self, place: str, table: Table, field: Field, value: object) -> Source | None:
        if isinstance(value, str):
            return Column(value)
        if not isinstance(value, dict):
            self._mistake(place, "has to be the name of a column, or a table with one of its forms")
            return None
        forms = [name for name in _FORMS if name in value]
        if len(forms) != 1:
            self._mistake(place, "has to have exactly one of column, constant and key")
            return None
        given = self._struct(_FORMS[forms[0]], value, place)
        source: Source | None = None
        if isinstance(given, _Constant):
            source = Column(None, constant=_text(given.constant))
        elif isinstance(given, _Key):
            source = self._key(place, table, field, given)
        elif isinstance(given, _Column):
            if given.dates is not None:
                self._day(f"{place}.dates", given.dates)
            values = None
            if given.values is not None:
                values = {word.strip(): _text(value) for word, value in given.values.items()}
            default = None if given.default is None else _text(given.default)
            source = Column(given.column, values, default, given.dates)
        return source

    def _key(self, place: str, table: Table, field: Field, given: _Key) -> Key | None:
        if not isinstance(field.kind, Identifier):
            self._mistake(place, f"{field.name} is no id, so it cannot be made from a key")
            return None
        if not given.key:
            self._mistake(f"{place}.key", "names no column")
        target = target_of(table, field.name)
        if target is None and not given.of:
            self._mistake(place, f"say with `of` what {field.name} is the id of, such as 'bundles'")
        if target is not None and given.of not in {None, target}:
            self._mistake(f"{place}.of", f"has to be {target!r}, whose id {field.name} is")
        return Key(tuple(given.key), target or given.of or "", tuple(given.when))

    def _check_values(self, place: str, field: Field, source: Source, writing: Writing) -> None:
        """Report the constants that the column cannot have."""
        if isinstance(source, Key):
            return
        given = {".constant": source.constant} if source.column is None else {}
        if source.default is not None:
            given[".default"] = source.default
        given |= {f".values.{_quoted(k)}": v for k, v in (source.values or {}).items()}
        if field.is_required and source.column is None and not source.constant:
            self._mistake(f"{place}.constant", f"empty, and {field.name} always has a value")
        for inner, text in given.items():
            try:
                reader(field, Column(None, constant=text), writing)
            except ValueError as error:
                self._mistake(place + inner, with_value(text, str(error)))


def fields_by_name(table: Table) -> dict[str, Field]:
    """Return the columns that a mapping can fill: those of the table, and ``password``."""
    fields = {field.name: field for field in table.columns}
    return fields | ({"password": _PASSWORD} if table.name == "subscribers" else {})


def target_of(table: Table, column: str) -> str | None:
    """Return the name of the table whose id a column holds, None if it holds no id of Masthead."""
    if column in table.references:
        return table.references[column]
    return table.name if column == table.key[0] else None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``the nearest is 'x'``, or "" if nothing is known."""
    found = get_close_matches(name[:_SHOWN_MAX], list(known), n=1, cutoff=0)
    return f"the nearest is {found[0]!r}" if found else ""


def _is_encoding(name: str) -> bool:
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def _no_such(what: str, name: str, known: Iterable[str]) -> str:
    return f"there is no {what} {name[:_SHOWN_MAX]!r}; {nearest(name, known)}"


def _quoted(name: str) -> str:
    name = name[:_SHOWN_MAX]
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else repr(name)


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _translated(sentence: str, type_: Any) -> str:
    if sentence.startswith("Invalid enum"):
        literal, _ = get_args(type_)
        return f"has to be one of {', '.join(map(repr, get_args(literal)))}"
    found = _EXPECTED.search(sentence)
    if not found:
        return sentence
    expected, got = (group.strip("`").split(" | ") for group in found.groups())
    wanted = " or ".join(_WORDS.get(name, name) for name in expected if name != "null")
    return f"has to be {wanted}, and is {_WORDS.get(got[0], got[0])}"
