"""Statements of banks in ISO 20022: camt.053, and camt.054 for notifications.

The versions differ in where the parts stand: from version 8 on, the name of a party is one level
deeper and the state of an entry is a code. Each path below is tried in turn.
"""

import re
from collections.abc import Iterator
from typing import IO

from masthead.bank_files.accounts import compact
from masthead.bank_files.camt_details import Whole, detail_of, entries_of, signed
from masthead.bank_files.entries import (
    BadValueError,
    Entry,
    Heading,
    cents_of,
    day_of,
    shown,
)
from masthead.bank_files.tally import Tally
from masthead.bank_files.xml_nodes import Node, parts_of
from masthead.contract.printable import listed

VERSIONS = range(2, 14)
"""The versions of camt.053 and camt.054 that are read."""

_NAMESPACE = re.compile(r"urn:iso:std:iso:20022:tech:xsd:([a-z]{4}\.\d{3})\.001\.(\d{2})")
_MESSAGES = ("camt.053", "camt.054")
_PARTS = {"Acct": 3, "Bal": 3, "Ntry": 3, "StmtPgntn": 3, "TxDtls": 5, "Stmt": 2, "Ntfctn": 2}
"""The parts that are read one after the other, and their depths."""

_STATES_TO_COME = {"PDNG", "INFO", "FUTR"}
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T.*|Z|[+-]\d{2}:\d{2})?")
_OPENING, _CLOSING = ("OPBD", "PRCD"), ("CLBD",)


def read(file: IO[bytes], tally: Tally) -> Iterator[Heading | Entry]:
    """Yield the heading of each statement of a file, and the entries of each.

    Entries that are not booked are left out and counted. Raises BadValueError for a file that is
    not camt.053 or camt.054, or in which something is missing or does not add up.
    """
    reader: _Reader | None = None
    for namespace, node in parts_of(file, lambda name, depth: _PARTS.get(name) == depth):
        if reader is None:
            _check_message(namespace)
            reader = _Reader(tally)
        try:
            yield from reader.take(node)
        except BadValueError as error:
            raise BadValueError(f"line {node.line}: {error}") from None
    if reader is None:
        raise BadValueError("is XML, but has no statement of a bank")


def _check_message(namespace: str) -> None:
    found = _NAMESPACE.fullmatch(namespace)
    if not found:
        raise BadValueError(f"is XML, but has no statement of a bank ({shown(namespace)})")
    message, version = found.groups()
    if message not in _MESSAGES:
        raise BadValueError(f"is a message {message}, and {listed(_MESSAGES)} are read")
    if int(version) not in VERSIONS:
        raise BadValueError(
            f"is version {version} of {message}, and the versions "
            f"{VERSIONS[0]:02} to {VERSIONS[-1]:02} are read"
        )


class _Reader:
    """What is known of the statement that is being read, and the transactions of an entry."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._statement = _Statement()
        self._details = list[Node]()

    def take(self, node: Node) -> Iterator[Heading | Entry]:
        """Take a part of the file; yield the heading or the entries that are complete by it."""
        statement = self._statement
        if node.name == "TxDtls":
            self._details.append(node)
            return
        if node.name in {"Ntry", "Stmt", "Ntfctn"} and statement.heading is not None:
            yield statement.heading
            statement.heading = None
        if node.name == "Ntry":
            yield from statement.entries(node, self._details, self._tally)
            self._details.clear()
        elif node.name in {"Stmt", "Ntfctn"}:
            statement.check_balances()
            self._statement = _Statement()
        else:
            statement.take(node)


class _Statement:
    """A statement that is being read: its account, balances, and the sum of its entries."""

    def __init__(self) -> None:
        self.heading: Heading | None = None
        self._currency = ""
        self._is_page = self._continues = False
        self._balances: dict[str, int] = {}
        self._sum = 0

    def take(self, node: Node) -> None:
        """Take a part that stands before the entries."""
        if node.name == "Acct":
            account = compact(node.value("Id/IBAN", "Id/Othr/Id"))
            self._currency = node.value("Ccy")
            self.heading = Heading(account, self._currency, node.line, self._continues)
        elif node.name == "StmtPgntn":
            self._is_page = True
            self._continues = node.value("PgNb") not in {"", "1"}
        elif code := node.value("Tp/CdOrPrtry/Cd"):
            self._balances[code] = _amount(node)

    def entries(self, node: Node, details: list[Node], tally: Tally) -> list[Entry]:
        """Return the entries of a booked movement: one for each of its transactions."""
        state = node.value("Sts/Cd", "Sts/Prtry", "Sts")
        if state in _STATES_TO_COME:
            tally.pending += 1
            return []
        amount = _amount(node)
        currency = _money(node).currency
        if self._currency and currency != self._currency:
            raise BadValueError(
                f"the entry is in {shown(currency)}, and the account in {self._currency}"
            )
        self._sum += amount
        value_day = _day(node, "ValDt") or _day(node, "BookgDt")
        booked_day = _day(node, "BookgDt") or value_day
        if not value_day or not booked_day:
            raise BadValueError("the entry has no day")
        whole = Whole(
            node,
            amount,
            currency,
            Entry(
                value_day,
                booked_day,
                amount,
                bank_reference=node.value("AcctSvcrRef"),
                batch_id=node.value("NtryDtls/Btch/PmtInfId", "NtryDtls/Btch/MsgId"),
                is_reversal=node.value("RvslInd") in {"true", "1"},
                line=node.line,
            ),
        )
        return entries_of(whole, [detail_of(each, whole) for each in details])

    def check_balances(self) -> None:
        """Raise BadValueError if the entries are not the difference of the booked balances."""
        opening = next((self._balances[code] for code in _OPENING if code in self._balances), None)
        closing = next((self._balances[code] for code in _CLOSING if code in self._balances), None)
        if opening is None or closing is None or self._is_page:
            return
        if opening + self._sum != closing:
            raise BadValueError(
                f"the entries of the statement add up to {self._sum / 100:.2f}, and its balances "
                f"differ by {(closing - opening) / 100:.2f}: the file is not complete"
            )


def _money(node: Node) -> Node:
    money = node.first("Amt")
    if money is None:
        raise BadValueError(f"{node.name} has no amount")
    return money


def _amount(node: Node) -> int:
    return signed(node, cents_of(_money(node).text))


def _day(node: Node, name: str) -> str:
    written = node.value(f"{name}/Dt", f"{name}/DtTm")
    if not written:
        return ""
    found = _DAY.fullmatch(written)
    if not found:
        raise BadValueError(f"{shown(written)} is not a day such as 2026-11-30")
    return day_of(*found.groups())
