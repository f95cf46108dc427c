"""Status reports of banks in ISO 20022: pain.002, which says what a bank did not collect.

A bank rejects a whole file, one of its batches, or single claims. Reports about what is accepted or
on its way name no claim that comes back.
"""

import re
from collections.abc import Iterator
from typing import IO, Literal, NamedTuple

from masthead.bank_files.entries import BadValueError, cents_of, shown, text_of
from masthead.bank_files.xml_nodes import Node, parts_of
from masthead.contract.printable import printable

VERSIONS = range(3, 16)
"""The versions of pain.002 that are read."""

Level = Literal["file", "batch", "claim"]

_NAMESPACE = re.compile(r"urn:iso:std:iso:20022:tech:xsd:pain\.002\.00[123]\.(\d{2})")
_PARTS = {"GrpHdr": 2, "OrgnlGrpInfAndSts": 2, "OrgnlPmtInfAndSts": 2, "TxInfAndSts": 3}
_REJECTED = {"RJCT", "CANC"}
_CREATED = re.compile(r"(\d{4}-\d{2}-\d{2})T.*")


class Rejection(NamedTuple):
    """What a bank does not collect, or gives back: a file, a batch, or a claim.

    ``message_id`` is that of the file that was handed in, ``name`` that of the batch or the claim
    (its end-to-end id), "" for a file. ``code`` is the bank's reason, such as ``AC04``. ``fee`` is
    in cents. ``made_on`` is the day of the report, "" if it names none.
    """

    level: Level
    message_id: str
    name: str
    code: str
    text: str
    fee: int
    made_on: str
    line: int


def read(file: IO[bytes]) -> Iterator[Rejection]:
    """Yield what a bank rejects, in the order of the file.

    A batch comes before its claims. Raises BadValueError for a file that is not pain.002, or in
    which something is missing.
    """
    reader: _Reader | None = None
    for namespace, node in parts_of(file, lambda name, depth: _PARTS.get(name) == depth):
        if reader is None:
            _check_message(namespace)
            reader = _Reader()
        try:
            yield from reader.take(node)
        except BadValueError as error:
            raise BadValueError(f"line {node.line}: {error}") from None
    if reader is None:
        raise BadValueError("is XML, but not a status report of a bank (pain.002)")


def _check_message(namespace: str) -> None:
    found = _NAMESPACE.fullmatch(namespace)
    if not found:
        raise BadValueError(
            f"is XML, but not a status report of a bank (pain.002): {printable(shown(namespace))}"
        )
    if int(found[1]) not in VERSIONS:
        raise BadValueError(
            f"is version {found[1]} of pain.002, and the versions {VERSIONS[0]:02} to "
            f"{VERSIONS[-1]:02} are read"
        )


class _Reader:
    """What is known of the report that is being read, and the rejected claims of a batch."""

    def __init__(self) -> None:
        self._made_on = ""
        self._message_id = ""
        self._claims = list[Node]()

    def take(self, node: Node) -> Iterator[Rejection]:
        """Take a part of the report; yield what is complete by it."""
        if node.name == "GrpHdr":
            found = _CREATED.fullmatch(node.value("CreDtTm"))
            self._made_on = found[1] if found else ""
        elif node.name == "OrgnlGrpInfAndSts":
            self._message_id = node.value("OrgnlMsgId")
            if node.value("GrpSts") in _REJECTED:
                if not self._message_id:
                    raise BadValueError("a whole file is rejected, and the report does not name it")
                yield self._rejection(node, "file", "")
        elif node.name == "TxInfAndSts":
            if node.value("TxSts") in _REJECTED:
                if not node.value("OrgnlEndToEndId"):
                    raise BadValueError("a claim is rejected, and the report does not name it")
                self._claims.append(node)
        else:
            yield from self._batch(node)
            self._claims.clear()

    def _batch(self, node: Node) -> Iterator[Rejection]:
        name = node.value("OrgnlPmtInfId")
        if node.value("PmtInfSts") in _REJECTED:
            if not name:
                raise BadValueError("a batch is rejected, and the report does not name it")
            yield self._rejection(node, "batch", name)
        for each in self._claims:
            yield self._rejection(each, "claim", each.value("OrgnlEndToEndId"))

    def _rejection(self, node: Node, level: Level, name: str) -> Rejection:
        reason = node.first("StsRsnInf")
        code = reason.value("Rsn/Cd", "Rsn/Prtry") if reason else ""
        text = text_of(*(each.text for each in reason.all("AddtlInf"))) if reason else ""
        fee = sum(
            cents_of(money.text)
            for charge in node.all("ChrgsInf")
            for money in charge.all("Amt")
            if money.currency == "EUR"
        )
        return Rejection(level, self._message_id, name, code, text, fee, self._made_on, node.line)
