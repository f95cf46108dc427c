"""Entries of CSV files by a mapping, such as an export of a bank or the payouts of a shop."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from masthead.bank_files.accounts import compact
from masthead.bank_files.csv_mapping import Mapping, date_form
from masthead.bank_files.entries import (
    BadValueError,
    Entry,
    Heading,
    cents_of,
    day_of,
    shown,
    text_of,
)
from masthead.bank_files.tally import Tally
from masthead.contract.printable import listed

_SEPARATORS = ";,\t|"
_CENTURY = 2000


def read(lines: Iterable[str], mapping: Mapping, tally: Tally) -> Iterator[Heading | Entry]:
    """Yield a heading with the account and currency of each row that differs, and the entries.

    Rows that are not booked are left out and counted. Raises BadValueError, with the line, for
    missing columns and for values that cannot be read.
    """
    flow = iter(lines)
    header = next(islice(flow, mapping.skip_lines, None), "").removeprefix("\ufeff")
    separator = mapping.separator or max(_SEPARATORS, key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=separator), [])]
    if missing := [name for name in mapping.columns.names if name not in names]:
        raise BadValueError(
            f"line {mapping.skip_lines + 1}: there is no column {listed([*map(shown, missing)])}: "
            f"these are {listed([*map(shown, names)]) if any(names) else 'none'}"
        )
    rows = csv.reader(flow, delimiter=separator, strict=True)
    offset = mapping.skip_lines + 1
    reader = _Reader(mapping)
    heading: Heading | None = None
    while True:
        line = offset + rows.line_num + 1
        try:
            cells = next(rows, None)
            if cells is None:
                break
            if not any(cell.strip() for cell in cells):
                continue
            row = reader.row(names, cells)
            if not reader.is_booked(row):
                tally.pending += 1
                continue
            found = reader.heading(row, line)
            entry = reader.entry(row, line)
        except (BadValueError, csv.Error) as error:
            raise BadValueError(f"line {line}: {error}") from None
        if heading is None or heading[:2] != found[:2]:
            # A row of another account and back again is still of the same statement.
            yield found._replace(continues=heading is not None)
            heading = found
        yield entry
    if heading is None:
        yield Heading(compact(mapping.account), mapping.currency)


class _Reader:
    """Reads rows by a mapping."""

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        self._columns = mapping.columns
        self._dates = date_form(mapping.dates) or re.compile("")

    def row(self, names: list[str], cells: list[str]) -> dict[str, str]:
        """Return a row by the names of its columns. Raises BadValueError for missing cells."""
        if len(cells) < len(names):
            raise BadValueError(
                f"the row has {len(cells)} cells, and there are {len(names)} columns"
            )
        return {name: cell.strip() for name, cell in zip(names, cells, strict=False)}

    def is_booked(self, row: dict[str, str]) -> bool:
        """Return whether the state of a row is that of a booked one."""
        return not self._columns.state or row[self._columns.state] in self._mapping.booked

    def heading(self, row: dict[str, str], line: int) -> Heading:
        """Return the account and currency of a row."""
        account = row.get(self._columns.account, "") or self._mapping.account
        currency = row.get(self._columns.currency, "") or self._mapping.currency
        return Heading(compact(account), currency.upper(), line)

    def entry(self, row: dict[str, str], line: int) -> Entry:
        """Return the entry of a row."""
        columns = self._columns
        day = self._day(row[columns.date])
        booked_on = row.get(columns.booked_on, "")
        cents, fee = self._amounts(row)
        texts = (row[name] for name in columns.references)
        return Entry(
            day,
            self._day(booked_on) if booked_on else day,
            cents,
            text_of(row.get(columns.name, "")),
            compact(row.get(columns.iban, "")),
            text_of(*texts),
            text_of(row.get(columns.end_to_end_id, "")),
            text_of(row.get(columns.mandate_id, "")),
            text_of(row.get(columns.bank_reference, "")),
            fee,
            text_of(row.get(columns.return_reason, "")),
            line=line,
        )

    def _amounts(self, row: dict[str, str]) -> tuple[int, int]:
        """Return the cents before the fee, and the fee, which is more than 0 if it was kept."""
        columns = self._columns
        fee = self._cents(row, columns.fee)
        net = self._cents(row, columns.net)
        if columns.credit or columns.debit:
            cents = abs(self._cents(row, columns.credit)) - abs(self._cents(row, columns.debit))
        elif columns.amount:
            self._require(row, columns.amount)
            cents = self._cents(row, columns.amount)
            if columns.direction:
                is_debit = row[columns.direction] in self._mapping.debits
                cents = -abs(cents) if is_debit else abs(cents)
        else:
            # The fee of an amount that came is kept from it, with whichever sign it is written.
            self._require(row, columns.net)
            return net + abs(fee), abs(fee)
        if not columns.net:
            return cents, abs(fee)
        if columns.fee and abs(cents - net) != abs(fee):
            raise BadValueError(
                f"the amount {cents / 100:.2f} less the fee {abs(fee) / 100:.2f} is not the net "
                f"amount {net / 100:.2f}"
            )
        return cents, cents - net

    def _cents(self, row: dict[str, str], column: str) -> int:
        text = row.get(column, "")
        if not text:
            return 0
        try:
            return cents_of(text, self._mapping.decimal_sign, self._mapping.thousands)
        except BadValueError as error:
            raise BadValueError(f"{column}: {error}") from None

    def _require(self, row: dict[str, str], column: str) -> None:
        if not row[column]:
            raise BadValueError(f"{column}: the amount is missing")

    def _day(self, text: str) -> str:
        found = self._dates.fullmatch(text)
        if not found:
            raise BadValueError(
                f"{self._columns.date}: {shown(text)} is not a day written {self._mapping.dates}"
            )
        year = found["y"] if len(found["y"]) > 2 else _CENTURY + int(found["y"])
        return day_of(year, found["m"], found["d"])
