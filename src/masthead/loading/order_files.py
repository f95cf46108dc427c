"""Files of orders: CSV and NDJSON with an ``external_reference``, such as a web shop's export.

A row is an item; the rows with one reference are an order and agree in its columns. Loading the
same file again changes nothing (circulation, "Order").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from masthead.circulation.addresses import POSTAL
from masthead.circulation.amounts import cents_of
from masthead.circulation.ordering import Item, Order, Person
from masthead.contract.kinds import Bool, Identifier, Kind, Text
from masthead.contract.printable import printable
from masthead.errors import BadInput
from masthead.loading.cleaning import BadCell, ShownNumber, cleaned, whole, without_decimals
from masthead.loading.regular_files import check_name
from masthead.loading.sources import headed_batches

PROBLEMS_SHOWN_MAX = 100

_PERSON = (
    "subscriber_id",
    "renewal_code",
    "email",
    "first_name",
    "last_name",
    "address_id",
    *POSTAL,
)
_RECIPIENT = "recipient_"
_OF_ORDER = (
    "external_reference",
    *_PERSON,
    "paid",
    "payment_type",
    "payment_reference",
    "fulfilled",
    "notes",
    "import_name",
    "channel_id",
)
_OF_ITEM = (
    "bundle_id",
    "product_id",
    "price",
    "tax",
    "copies",
    "new",
    "first_issue",
    "subscription_id",
    "gift",
    "class",
    *(f"{_RECIPIENT}{name}" for name in _PERSON),
)

COLUMNS = (*_OF_ORDER, *_OF_ITEM)
"""The columns of a file of orders; only ``external_reference`` is required."""

_IDS = {
    "subscriber_id",
    "address_id",
    "bundle_id",
    "product_id",
    "first_issue",
    "subscription_id",
    "channel_id",
}
_CODES = {"external_reference", "payment_reference", "renewal_code", "zip_code"}
_FLAGS = {"paid", "fulfilled", "new", "gift"}
_AMOUNTS = {"price", "tax"}
_NUMBERS = {"copies"}
_HEADER = 1
_NAME = 30
_TEXTS: dict[str, Kind] = {"import_name": Text(_NAME)}


class Problem(NamedTuple):
    """What is wrong in a file, and where."""

    label: str
    line: int
    column: str
    sentence: str

    def __str__(self) -> str:
        """Return the problem as a line of a message."""
        return f"{self.label}:{self.line}: {self.column}: {printable(self.sentence)}"


class OrderRows(NamedTuple):
    """An order of a file: its label, and the line of each item."""

    label: str
    lines: Sequence[int]
    order: Order


Row = Mapping[str, int | str]


def listed(problems: Sequence[Problem]) -> BadInput:
    """Return the exception for files with problems, which lists the first hundred by line."""
    problems = sorted(problems, key=lambda problem: (problem.label, problem.line))
    shown = [str(problem) for problem in problems[:PROBLEMS_SHOWN_MAX]]
    more = len(problems) - PROBLEMS_SHOWN_MAX
    if more > 0:
        shown.append(f"and {more} more {'problem' if more == 1 else 'problems'}")
    return BadInput("\n".join([*shown, "nothing was changed; correct these and load it again"]))


def read_orders(
    paths: Sequence[Path], *, allow_truncated: bool = False
) -> tuple[list[OrderRows], list[Problem]]:
    """Return the valid orders of files, in the order of their first rows, and all problems.

    A problem is an invalid value, or a row that contradicts another row of its order. Orders with
    problems are not returned. Raises BadInput for a file that does not exist or is empty, for
    unknown columns, and, unless ``allow_truncated``, for a file that looks cut off.
    """
    problems: list[Problem] = []
    orders: list[OrderRows] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: there is no such file")
        check_name(path)
        orders += _read(path, problems, allow_truncated=allow_truncated)
    if any(problem.line == _HEADER for problem in problems):
        raise listed(problems)
    first: dict[str, OrderRows] = {}
    for each in orders:
        reference = (each.order.reference or "").lower()
        before = first.setdefault(reference, each)
        if before is not each:
            where = f"{before.label}:{before.lines[0]}"
            sentence = f"{each.order.reference!r} is an order of {where} already"
            problems.append(Problem(each.label, each.lines[0], "external_reference", sentence))
    return [*first.values()], problems


def _read(path: Path, problems: list[Problem], *, allow_truncated: bool) -> list[OrderRows]:
    label = path.name

    def problem(line: int, column: str, sentence: str) -> None:
        problems.append(Problem(label, line, column, sentence))

    by_reference: dict[str, list[tuple[int, Row]]] = {}
    refused = set()
    for line, cells in _rows(path, label, problem, allow_truncated=allow_truncated):
        if row := _parsed(line, cells, problem):
            by_reference.setdefault(str(row["external_reference"]), []).append((line, row))
        else:
            refused.add(cells.get("external_reference"))
    found = []
    for reference, rows in by_reference.items():
        first_line, first = rows[0]
        for line, row in rows[1:]:
            for name in _OF_ORDER:
                if row.get(name) != first.get(name):
                    problem(line, name, f"differs from line {first_line} of the same order")
                    refused.add(reference)
        if reference not in refused:
            items = [_item(row) for _, row in rows]
            found.append(OrderRows(label, [line for line, _ in rows], _order(first, items)))
    return found


def _rows(
    path: Path, label: str, problem: Callable[[int, str, str], None], *, allow_truncated: bool
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the non-empty cells of each row that can be read."""
    unknown: set[str] = set()
    for batch in headed_batches(path, label, allow_truncated=allow_truncated):
        for name in batch.columns:
            if name not in COLUMNS and name not in unknown:
                unknown.add(name)
                problem(_HEADER, name[:100], f"no column of orders; these are {', '.join(COLUMNS)}")
        for bad in batch.unreadable:
            problem(bad.line, bad.column, bad.sentence)
        columns = {
            name: cleaned(cells)
            for name, cells in zip(batch.columns, batch.cells, strict=True)
            if name not in unknown
        }
        for number, line in enumerate(batch.lines):
            yield line, {name: cell for name, cells in columns.items() if (cell := cells[number])}


def _parsed(
    line: int, cells: Mapping[str, str], problem: Callable[[int, str, str], None]
) -> Row | None:
    """Return the values of a row, None if one of them is invalid."""
    row: dict[str, int | str] = {}
    is_good = True
    for name, text in cells.items():
        try:
            row[name] = _value(name, text)
        except ValueError as error:
            problem(line, name, str(error))
            is_good = False
    if "external_reference" not in row:
        problem(line, "external_reference", "missing: by it, an order that comes again is known")
        return None
    return row if is_good else None


def _value(name: str, text: str) -> int | str:
    if isinstance(text, BadCell):
        raise ValueError(text.sentence)
    plain = name.removeprefix(_RECIPIENT)
    if isinstance(text, ShownNumber) and plain in _IDS | _FLAGS | _AMOUNTS | _NUMBERS:
        text = text.number
    if plain in _IDS | _NUMBERS:
        return Identifier().parse(whole(text))
    if plain in _CODES:
        text = without_decimals(text)
    if plain in _FLAGS:
        return Bool().parse(text)
    if plain in _AMOUNTS:
        return cents_of(text)
    return _TEXTS.get(plain, Text()).parse(text)


def _order(row: Row, items: Sequence[Item]) -> Order:
    return Order(
        _person(row),
        tuple(items),
        reference=str(row["external_reference"]),
        is_paid=bool(row.get("paid")),
        payment_type=_text(row, "payment_type"),
        payment_reference=_text(row, "payment_reference"),
        is_fulfilled=bool(row.get("fulfilled")),
        notes=_text(row, "notes"),
        import_name=_text(row, "import_name"),
        channel_id=_id(row, "channel_id"),
    )


def _item(row: Row) -> Item:
    return Item(
        bundle_id=_id(row, "bundle_id"),
        product_id=_id(row, "product_id"),
        price=_id(row, "price"),
        tax=_id(row, "tax"),
        recipient=_person(row, _RECIPIENT),
        is_new=bool(row.get("new")),
        first_issue=_id(row, "first_issue"),
        subscription_id=_id(row, "subscription_id"),
        is_gift=bool(row["gift"]) if "gift" in row else None,
        of_class=_text(row, "class") or None,
        copies=int(row.get("copies", 1)),
    )


def _person(row: Row, prefix: str = "") -> Person:
    return Person(
        subscriber_id=_id(row, f"{prefix}subscriber_id"),
        renewal_code=_text(row, f"{prefix}renewal_code") or "",
        email=_text(row, f"{prefix}email") or "",
        first_name=_text(row, f"{prefix}first_name") or "",
        last_name=_text(row, f"{prefix}last_name") or "",
        address_id=_id(row, f"{prefix}address_id"),
        address={name: str(row[f"{prefix}{name}"]) for name in POSTAL if f"{prefix}{name}" in row},
    )


def _id(row: Row, name: str) -> int | None:
    found = row.get(name)
    return None if found is None else int(found)


def _text(row: Row, name: str) -> str | None:
    found = row.get(name)
    return None if found is None else str(found)
