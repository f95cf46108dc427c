"""How a file writes its dates, amounts and words, guessed from its values."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date

from masthead.contract.kinds import Bit, Bool, Date, DateTime, DecimalText, Flag, Number, OneOf
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.loading.checks import fields_by_name
from masthead.loading.guess_columns import Values, filled
from masthead.loading.guess_lines import Line, toml, toml_list
from masthead.loading.guess_words import NO, TYPES, YES, plain
from masthead.loading.mapping_dates import UNIX, DayOfMonth, forms_of
from masthead.loading.mapping_values import Column, Writing, reader

_ORDERS = (
    "YYYY-MM-DD",
    "DD.MM.YYYY",
    "D.M.YYYY",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "D/M/YYYY",
    "M/D/YYYY",
    "DD-MM-YYYY",
    "MM-DD-YYYY",
    "D-M-YYYY",
    "M-D-YYYY",
    "YYYY/MM/DD",
    "YYYY.MM.DD",
    "YYYYMMDD",
    "D.M.YY",
    "D/M/YY",
    "M/D/YY",
    "D-M-YY",
    "D MMM YYYY",
    "D. MMM YYYY",
    "D-MMM-YYYY",
    "D-MMM-YY",
    "MMM D, YYYY",
    "MMM D YYYY",
)
_MONTHS = ("YYYY-MM", "MM/YYYY", "MM.YYYY", "M/YYYY", "MMM YYYY", "MMM YY", "MMM-YY")
_FORMS_MAX = 3
_ENDS = ("date_expired", "cancelled_on", "delete_date")
"""Columns in which a month means its last day."""

_DAY = fields_by_name(TABLES_BY_NAME["issues"])["date"]
_VALUES_MAX = 20
_CURRENCIES = ("€", "$", "£", "EUR", "USD", "CHF", "GBP")


def writing(tables: Mapping[str, list[list[Line]]], values: Values) -> tuple[Writing, list[Line]]:
    """Return how the file writes its values, and the lines of the mapping for it."""
    dates, amounts, flags = _by_kind(tables, values)
    order, lines = _dates(dates, is_american=_is_american(values))
    decimal, currency, of_amounts = _amounts([cell for cells in amounts for cell in cells])
    lines += of_amounts
    words = {cell.casefold() for cells in flags for cell in cells}
    yes, no = sorted(words & YES), sorted(words & NO)
    if yes or no:
        lines += [Line("yes", toml_list(yes)), Line("no", toml_list(no))]
    return Writing((order,), decimal, currency, frozenset(yes), frozenset(no)), lines


def _by_kind(
    tables: Mapping[str, list[list[Line]]], values: Values
) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Return the values of the columns of dates, of amounts, and of yes and no."""
    dates: list[list[str]] = []
    amounts: list[list[str]] = []
    flags: list[list[str]] = []
    for table, records in tables.items():
        fields = fields_by_name(TABLES_BY_NAME[table])
        for line in (line for lines in records for line in lines if line.name):
            kind, cells = fields[line.target].kind, filled(values[line.name])
            if isinstance(kind, Date | DateTime):
                dates.append(cells)
            elif isinstance(kind, DecimalText | Number):
                amounts.append(cells)
            elif isinstance(kind, Bool | Flag | Bit):
                flags.append(cells)
    return dates, amounts, flags


def with_settings(table: Table, line: Line, values: Values, written: Writing) -> Line:
    """Return the line with the settings of its values: listed words, another order of dates."""
    field = fields_by_name(table)[line.target]
    cells = filled(values.get(line.name, ()))
    if not cells:
        return line
    if isinstance(field.kind, OneOf):
        return _with_words(line, field.kind, cells)
    if isinstance(field.kind, Date | DateTime):
        return _with_dates(line, cells, written.dates[0])
    if isinstance(field.kind, DecimalText | Number) and plain(line.name).endswith("cents"):
        source = f"{{ column = {toml(line.name)}, scale = 0.01 }}"
        return line._replace(source=source, comment="GUESS: whole cents")
    read = reader(field, Column((line.name,)), written)
    if not line.source.startswith("{") and not all(map(_accepts(read), dict.fromkeys(cells))):
        return line._replace(comment="GUESS: not all of its values fit")
    return line


def _with_dates(line: Line, cells: Sequence[str], order: str) -> Line:
    """Return the line with the form of its dates, unless it is that of the file."""
    own = next(_fitting(cells), None)
    if own is not None:
        if order in _fitting(cells):
            return line
        source = f"{{ column = {toml(line.name)}, dates = {toml(own)} }}"
        return line._replace(source=source, comment=_about_order(own, [cells]) or line.comment)
    day: DayOfMonth = "last" if line.target in _ENDS else "first"
    forms = _several(cells, day)
    if not forms:
        return line._replace(comment="GUESS: not all of its values are dates that are known")
    listed = toml(forms[0]) if len(forms) == 1 else toml_list(forms)
    is_month = any(form in _MONTHS for form in forms)
    source = f"column = {toml(line.name)}, dates = {listed}{f', day = {toml(day)}' * is_month}"
    several = "its dates have several forms" if len(forms) > 1 else "seconds since 1970"
    told = f"a month is its {day} day" if is_month else several
    return line._replace(source=f"{{ {source} }}", comment=f"GUESS: {told}")


def _several(cells: Sequence[str], day: DayOfMonth) -> list[str]:
    """Return the forms that are needed for all dates, [] if they are not known."""
    rest = list(dict.fromkeys(cells))
    found: list[str] = []
    while rest and len(found) < _FORMS_MAX:
        fitting = {
            form: [cell for cell in rest if _accepts(_reader_of(form, day))(cell)]
            for form in (*_ORDERS[1:], *_MONTHS, UNIX)
        }
        best = max(fitting, key=lambda form: len(fitting[form]))
        found.append(best)
        rest = [cell for cell in rest if cell not in set(fitting[best])]
    try:
        forms_of(found)
    except ValueError:
        return []
    return [] if rest else found


def _with_words(line: Line, kind: OneOf, cells: Sequence[str]) -> Line:
    words = list(dict.fromkeys(cells))
    if all(map(_accepts(kind.parse), words)):
        return line
    known = {value.lower(): value for value in kind.values}
    if "Print" in kind.values:
        known = TYPES | known
    pairs = [(word, known[plain(word)]) for word in words if plain(word) in known]
    if not pairs or not all(map(is_text, words)):
        return line._replace(comment=f"GUESS: has to become one of {', '.join(kind.values)}")
    listed = ", ".join(f"{toml(word)} = {toml(value)}" for word, value in pairs[:_VALUES_MAX])
    comment = "GUESS: look at the values"
    if len(pairs) < len(words):
        comment += ", of which not all are known"
    source = f"{{ column = {toml(line.name)}, values = {{ {listed} }} }}"
    return line._replace(source=source, comment=comment)


def is_text(name: str) -> bool:
    """Return whether a text has no invalid bytes of its file."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


# Dates.


def _dates(columns: Sequence[Sequence[str]], *, is_american: bool) -> tuple[str, list[Line]]:
    """Return the order of days of most columns, with its line in the mapping."""
    orders = Counter(order for cells in columns if cells for order in _fitting(cells))
    order = max(_ORDERS, key=lambda each: orders[each])
    if is_american and orders[swapped(order)] == orders[order] and "D" in order[:2]:
        order = swapped(order)
    if order == _ORDERS[0]:
        return order, []
    of_order = [cells for cells in columns if cells and order in _fitting(cells)]
    return order, [Line("dates", toml(order), _about_order(order, of_order))]


def _about_order(order: str, columns: Iterable[Sequence[str]]) -> str:
    """Return the comment for an order that no row tells from its opposite; "" for others."""
    other = swapped(order)
    if other == order or not all(other in _fitting(cells) for cells in columns):
        return ""
    text = next((cell for cells in columns for cell in cells), "")
    day = date.fromisoformat(str(_reader_of(order)(text)))
    shown = f"{text.split()[0]} is read as {day.day} {day:%B %Y}"
    return f"GUESS: the rows do not tell day from month: {shown}"


def _fitting(cells: Sequence[str]) -> Iterator[str]:
    """Yield the orders in which all cells are dates; few fit if a day is above 12."""
    some = list(dict.fromkeys(cells))
    for order in _ORDERS:
        if all(map(_accepts(_reader_of(order)), some)):
            yield order


def _reader_of(form: str, day: DayOfMonth | None = None) -> Callable[[str], object]:
    return reader(_DAY, Column(("",), day=day), Writing((form,)))


def swapped(order: str) -> str:
    """Return an order with day and month in each other's place."""
    return order.replace("D", "x").replace("M", "D").replace("x", "M")


def _accepts(read: Callable[[str], object]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return accepts


def _is_american(values: Values) -> bool:
    """Return whether a file looks like one of the United States: its prices, its postal codes."""
    names = {plain(name) for name in values}
    has_dollars = any("$" in cell for cells in values.values() for cell in cells[:20])
    return has_dollars or any("zip" in name for name in names)


# Amounts.


def _amounts(amounts: Sequence[str]) -> tuple[str | None, str | None, list[Line]]:
    """Return the decimal sign and the currency of amounts, with their lines in the mapping."""
    lines = []
    currency = next((sign for sign in _CURRENCIES if any(sign in cell for cell in amounts)), None)
    if currency:
        lines.append(Line("currency", toml(currency)))
    decimal, comment = _decimal(amounts)
    if decimal:
        lines.append(Line("decimal", toml(decimal), comment))
    return decimal, currency, lines


def _decimal(amounts: Sequence[str]) -> tuple[str | None, str]:
    if any(re.search(r",[0-9]{1,2}\D*$", cell) for cell in amounts):
        return ",", ""
    if any(re.search(r"[0-9],[0-9]{3}\.", cell) for cell in amounts):
        return ".", ""
    groups = next((cell for cell in amounts if re.search(r"[0-9][.,][0-9]{3}\D*$", cell)), None)
    if groups is None:
        return None, ""
    has_comma = "," in groups
    return ("." if has_comma else ","), f"GUESS: is {groups!r} above a thousand?"
