"""A first mapping to edit, guessed from the files themselves (``masthead import --guess``).

The guess uses the header and the first rows. Its comments say what to check.
"""

import glob
import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from masthead.contract.kinds import Bit, Bool, Date, DateTime, DecimalText, Flag, Number, OneOf
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.contract.shapes import Field
from masthead.errors import BadInput
from masthead.loading.batches import Batch, Said
from masthead.loading.files import REASON, found_in
from masthead.loading.guess_words import (
    COLUMNS,
    INVOICE,
    NO,
    NUMBER,
    SUBSCRIBER,
    SUBSCRIPTION,
    TYPES,
    YES,
    plain,
)
from masthead.loading.mapping import fields_by_name
from masthead.loading.mapping_values import Column, Writing, reader
from masthead.loading.sources import (
    FORMATS,
    complete,
    source_batches,
    stem_and_format,
    unpacked_name,
)

_ORDERS = (
    "YYYY-MM-DD",
    "DD.MM.YYYY",
    "D.M.YYYY",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "D/M/YYYY",
    "M/D/YYYY",
    "DD-MM-YYYY",
    "YYYY/MM/DD",
    "YYYYMMDD",
    "D.M.YY",
    "D/M/YY",
    "M/D/YY",
)
_CUTOFF = 0.86
_VALUES_MAX = 20
_DIGITS = re.compile(r"[0-9]+(?:[-_.][0-9]+)*")
_CURRENCIES = ("€", "$", "£", "EUR", "USD", "CHF", "GBP")

_HEAD = """\
# A first mapping, guessed from the first rows of each file. Check each line, above all those with
# a comment. Then load the files with this mapping.
"""

Values = Mapping[str, Sequence[str]]


class _Line(NamedTuple):
    """A line of a table in the mapping; ``source`` is TOML."""

    column: str
    source: str
    comment: str = ""


class _Guess(NamedTuple):
    """The guess for one file: its settings, its tables, and the columns that are not loaded."""

    settings: list[_Line]
    tables: dict[str, list[_Line]]
    ignore: list[tuple[str, str]]


def guess_mapping(paths: Sequence[Path]) -> str:
    """Return a mapping of the files of ``paths`` (files and folders), with a comment at each guess.

    Raises BadInput for files that cannot be read, or have no columns.
    """
    found = found_in(paths, lambda path: bool(stem_and_format(path)[1]))
    parts = [_HEAD]
    parts += [_written(_pattern(path), _guess_file(path, label)) for path, label in found]
    return "\n".join(parts)


def _written(pattern: str, guess: _Guess) -> str:
    lines = ["[[files]]", *map(_of_line, [_Line("name", pattern), *guess.settings])]
    if guess.ignore:
        lines.append("ignore = [  # columns that are not loaded")
        lines += [
            f"    {_toml(name)},{'  # ' if comment else ''}{comment}"
            for name, comment in guess.ignore
        ]
        lines.append("]")
    for name, columns in guess.tables.items():
        lines += ["", f"[files.tables.{name}]", *map(_of_line, columns)]
    return "\n".join(lines) + "\n"


def _of_line(line: _Line) -> str:
    return f"{line.column} = {line.source}{'  # ' if line.comment else ''}{line.comment}"


def _toml(text: str) -> str:
    """Return text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _pattern(path: Path) -> str:
    """Return the name of a file with ``*`` for its numbers, which are often a date."""
    name = unpacked_name(path)
    stem, format_ = stem_and_format(path)
    if stem in TABLES_BY_NAME or not format_:
        pattern = glob.escape(name)
    else:
        ending = name.removeprefix(stem)
        pattern = "*".join(map(glob.escape, _DIGITS.split(stem))) + ending
    # A name can have bytes that are not text; these match any character.
    return _toml(re.sub("[\ud800-\udfff]", "?", pattern))


def _guess_file(path: Path, label: str) -> _Guess:
    said = complete(path, label).said
    with closing(_first_batch(path, label, said)) as batches:
        batch = next(batches)
    names = [name.strip() for name in batch.columns]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    values = {
        name: [cell for cell in cells if cell and cell.strip()]
        for name, cells in zip(names, batch.cells, strict=True)
        if name not in repeated and name and name != REASON
    }
    if any(not _is_text(name) for name in names):
        raise BadInput(f"{label}: the name of a column is not valid {said.encoding}")
    if not values:
        raise BadInput(f"{label}: has no columns to guess from")
    ignore = [(name, "occurs twice") for name in sorted(repeated)]
    if "" in names and "" not in repeated:
        ignore.append(("", "has no name"))
    tables, left = _tables_of(stem_and_format(path)[0], values)
    writing, settings = _writing(tables, values)
    written = {
        name: [_line(TABLES_BY_NAME[name], line, values, writing) for line in lines]
        for name, lines in tables.items()
    }
    return _Guess([*_settings_of(path, said), *settings], written, [*left, *ignore])


def _first_batch(path: Path, label: str, said: Said) -> Generator[Batch, None, None]:
    yield from source_batches(path, label, said, allow_truncated=True)
    yield Batch((), (), (), (), 0)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _settings_of(path: Path, said: Said) -> list[_Line]:
    """Return the detected settings of a file that are not the defaults."""
    lines = []
    if said.format and stem_and_format(path)[1] not in FORMATS.values():
        lines.append(_Line("format", _toml(said.format)))
    if said.format == "csv" and said.separator not in {None, ","}:
        lines.append(_Line("separator", _toml(said.separator or ""), "detected"))
    if said.format in {"csv", "tsv"} and said.quote not in {None, '"'}:
        lines.append(_Line("quote", _toml(said.quote or ""), "detected"))
    if said.encoding not in {None, "utf-8"}:
        lines.append(_Line("encoding", _toml(said.encoding or ""), "detected"))
    return lines


# Tables and columns.


def _tables_of(stem: str, values: Values) -> tuple[dict[str, list[_Line]], list[tuple[str, str]]]:
    """Return the tables with their lines, and the remaining columns, each with a comment."""
    exact = TABLES_BY_NAME.get(stem)
    if exact and {*exact.key} <= values.keys() <= fields_by_name(exact).keys():
        return {stem: [_Line(name, _toml(name)) for name in values]}, []
    placed, near, left = _placed(values)
    who = placed.get("subscriber") or placed.get("subscribers.email")
    comment = "an id is made from this key" if "subscriber" in placed else "no number was found"
    number = next((name for name, _ in left if plain(name) in NUMBER), None)
    if number and placed.keys().isdisjoint({"subscriber", "subscription", "invoice"}):
        who, comment = number, "GUESS: is it the subscriber's number?"
        left = [(name, why) for name, why in left if name != number]
    if who is None:
        who = next(iter(values))
        comment = "GUESS: no column looks like a subscriber's number"
        left = [(name, why) for name, why in left if name != who]
        placed = {target: name for target, name in placed.items() if name != who}
    title = placed.get("publications.name")
    contract, invoice = placed.get("subscription"), placed.get("invoice")
    of_subscriber = _Line("subscriber_id", _key(who))
    tables: dict[str, list[_Line]] = {}
    if title:
        tables["publications"] = [_Line("publication_id", _key(title), "an id is made from it")]
    own = [target for target in placed if target.startswith("subscribers.")]
    if own or not (contract or title or invoice):
        tables["subscribers"] = [of_subscriber._replace(comment=comment)]
    address = [name for target, name in placed.items() if target.startswith("addresses.")]
    key_of_address = f"{{ key = [{_toml(who)}], when = [{', '.join(map(_toml, address))}] }}"
    if address:
        comment = "no address where all of these are empty"
        tables["addresses"] = [_Line("address_id", key_of_address, comment), of_subscriber]
    if contract or title:
        tables["subscriptions"] = _of_subscription(who, contract, title)
        if address:
            tables["subscriptions"].append(_Line("mailing_address_id", key_of_address))
    if invoice:
        tables["purchases"] = [_Line("purchase_id", _key(invoice)), of_subscriber]
    _add_columns(tables, placed, near, left)
    return tables, left


def _of_subscription(who: str, contract: str | None, title: str | None) -> list[_Line]:
    """Return the lines of a subscription's keys, from its number or from its title."""
    key = _key(contract) if contract else _key(who, title or "")
    publication = _Line("publication_id", "{ constant = 1 }", "GUESS: no column has a title")
    return [
        _Line("subscription_id", key, "this has to tell a subscription from all others"),
        _Line("subscriber_id", _key(who)),
        _Line("publication_id", _key(title)) if title else publication,
    ]


def _add_columns(
    tables: dict[str, list[_Line]],
    placed: Mapping[str, str],
    near: set[str],
    left: list[tuple[str, str]],
) -> None:
    """Add a line for each placed column whose table exists; the others remain."""
    for target, name in placed.items():
        table, _, column = target.partition(".")
        if column and table in tables:
            why = "GUESS: by a similar name" if name in near else ""
            tables[table].append(_Line(column, _toml(name), why))
        elif column:
            left.append((name, f"looks like {target}"))


def _key(*columns: str) -> str:
    return f"{{ key = [{', '.join(map(_toml, columns))}] }}"


def _placed(values: Values) -> tuple[dict[str, str], set[str], list[tuple[str, str]]]:
    """Return a source column for each target, those that are only similar, and the others."""
    placed: dict[str, str] = {}
    near = set()
    left = []
    for name in values:
        word = plain(name)
        target = _target(word)
        if target is None and (found := get_close_matches(word, COLUMNS, n=1, cutoff=_CUTOFF)):
            target = COLUMNS[found[0]]
            near.add(name)
        if target is None:
            left.append((name, ""))
        elif target in placed:
            left.append((name, f"looks like {target}, as another column does"))
        else:
            placed[target] = name
    return placed, near, left


def _target(word: str) -> str | None:
    for words, target in (
        (SUBSCRIBER, "subscriber"),
        (SUBSCRIPTION, "subscription"),
        (INVOICE, "invoice"),
    ):
        if word in words:
            return target
    return COLUMNS.get(word)


# Values.


def _writing(tables: Mapping[str, list[_Line]], values: Values) -> tuple[Writing, list[_Line]]:
    """Return how the file writes its values, and the lines of the mapping for it."""
    by_kind: dict[str, list[Sequence[str]]] = {"date": [], "amount": [], "flag": []}
    for table, lines in tables.items():
        fields = fields_by_name(TABLES_BY_NAME[table])
        for line in lines:
            kind, cells = fields[line.column].kind, values.get(_name(line.source), ())
            if isinstance(kind, Date | DateTime):
                by_kind["date"].append(cells)
            elif isinstance(kind, DecimalText | Number):
                by_kind["amount"].append(cells)
            elif isinstance(kind, Bool | Flag | Bit):
                by_kind["flag"].append(cells)
    lines = []
    orders = Counter(order for cells in by_kind["date"] if cells for order in _fitting(cells))
    dates = max(_ORDERS, key=lambda order: orders[order])
    if dates != _ORDERS[0]:
        could_be_swapped = orders[_swapped(dates)] == orders[dates]
        told = "GUESS: the rows do not tell day from month" if could_be_swapped else ""
        lines.append(_Line("dates", _toml(dates), told))
    amounts = [cell.strip() for cells in by_kind["amount"] for cell in cells]
    currency = next((sign for sign in _CURRENCIES if any(sign in cell for cell in amounts)), None)
    if currency:
        lines.append(_Line("currency", _toml(currency)))
    decimal = "," if any(re.search(r",[0-9]{1,2}\D*$", cell) for cell in amounts) else None
    if decimal:
        lines.append(_Line("decimal", _toml(decimal)))
    words = {cell.strip().casefold() for cells in by_kind["flag"] for cell in cells}
    yes, no = sorted(words & YES), sorted(words & NO)
    if yes or no:
        lines.append(_Line("yes", f"[{', '.join(map(_toml, yes))}]"))
        lines.append(_Line("no", f"[{', '.join(map(_toml, no))}]"))
    return Writing((dates,), decimal, currency, frozenset(yes), frozenset(no)), lines


def _name(source: str) -> str:
    """Return the column that a line's source names; "" if the source is more than a name."""
    return str(json.loads(source)) if source.startswith('"') else ""


def _order(cells: Sequence[str]) -> str | None:
    return next(_fitting(cells), None) if cells else None


def _fitting(cells: Sequence[str]) -> Iterator[str]:
    """Yield the orders in which all cells are dates; few fit if a day is above 12."""
    some = list(dict.fromkeys(cells))
    day = Field("day", Date(), fields_by_name(TABLES_BY_NAME["issues"])["date"].missing)
    for order in _ORDERS:
        if all(map(_accepts(reader(day, Column(("",)), Writing((order,)))), some)):
            yield order


def _accepts(read: Callable[[str], object]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return accepts


def _swapped(order: str) -> str:
    return order.replace("D", "x").replace("M", "D").replace("x", "M")


def _line(table: Table, line: _Line, values: Values, writing: Writing) -> _Line:
    """Return the line with the settings of its values: listed words, another order of dates."""
    name = _name(line.source)
    field = fields_by_name(table)[line.column]
    cells = values.get(name, ())
    if not name or not cells:
        return line
    if isinstance(field.kind, OneOf):
        return _with_values(line, name, field.kind, cells)
    if isinstance(field.kind, Date | DateTime):
        order = _order(cells)
        if order is None:
            return line._replace(comment="GUESS: not all of its values are dates that are known")
        if not set(writing.dates) & set(_fitting(cells)):
            source = f"{{ column = {line.source}, dates = {_toml(order)} }}"
            return line._replace(source=source)
    read = reader(field, Column((name,)), writing)
    if not all(map(_accepts(read), dict.fromkeys(cells))):
        return line._replace(comment="GUESS: not all of its values fit")
    return line


def _with_values(line: _Line, name: str, kind: OneOf, cells: Sequence[str]) -> _Line:
    words = list(dict.fromkeys(cell.strip() for cell in cells))
    if all(map(_accepts(kind.parse), words)):
        return line
    known = {value.lower(): value for value in kind.values}
    if "Print" in kind.values:
        known = TYPES | known
    pairs = [(word, known[plain(word)]) for word in words if plain(word) in known]
    if not pairs or any(not _is_text(word) for word in words):
        return line._replace(comment=f"GUESS: has to become one of {', '.join(kind.values)}")
    listed = ", ".join(f"{_toml(word)} = {_toml(value)}" for word, value in pairs[:_VALUES_MAX])
    comment = "GUESS: look at the values"
    if len(pairs) < len(words):
        comment += ", of which not all are known"
    source = f"{{ column = {_toml(name)}, values = {{ {listed} }} }}"
    return line._replace(source=source, comment=comment)
