"""The transactions within an entry of camt: parties, references, charges, and what they add up to.

A bank books many transfers as one entry. Each of them becomes an entry of its own, if their amounts
add up to the one that was booked.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.bank_files.accounts import compact
from masthead.bank_files.entries import BadValueError, Entry, cents_of, text_of
from masthead.bank_files.xml_nodes import Node

_AMOUNTS = ("Amt", "AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt")
_NOT_PROVIDED = {"NOTPROVIDED", "NOT PROVIDED", "NOTAVAILABLE"}
_YES, _NO = {"true", "1"}, {"false", "0"}


class Whole(NamedTuple):
    """A booked entry: its element, its signed cents, its currency, and what it has itself."""

    node: Node
    amount: int
    currency: str
    entry: Entry


class Detail(NamedTuple):
    """A transaction: its signed cents, None if it names none, and its charges.

    ``is_fee_within`` says whether the charges are part of the amount, None if that is not said.
    """

    amount: int | None
    fee: int
    is_fee_within: bool | None
    entry: Entry


def signed(node: Node, cents: int) -> int:
    """Return cents with the sign of an element: below 0 for a debit."""
    mark = node.value("CdtDbtInd")
    if mark not in {"CRDT", "DBIT"}:
        raise BadValueError(f"{node.name} does not say whether it is a credit or a debit")
    return cents if mark == "CRDT" else -cents


def detail_of(node: Node, whole: Whole) -> Detail:
    """Return a transaction of a booked entry."""
    money = next(
        (each for path in _AMOUNTS for each in node.all(path) if each.currency == whole.currency),
        None,
    )
    is_debit = whole.amount < 0
    if node.value("CdtDbtInd"):
        is_debit = node.value("CdtDbtInd") == "DBIT"
    amount = None
    if money is not None:
        amount = cents_of(money.text) * (-1 if is_debit else 1)
    reason = _return_reason(node)
    # What comes back names the parties of the movement that it gives back.
    is_payer = is_debit == bool(reason)
    name, iban = _party(node, is_payer=is_payer)
    fee, is_within = _charges(node, whole.currency)
    entry = whole.entry._replace(
        name=name,
        iban=iban,
        reference=_reference(node, whole.node),
        end_to_end_id=_given(node.value("Refs/EndToEndId")),
        mandate_id=_given(node.value("Refs/MndtId")),
        bank_reference=node.value("Refs/AcctSvcrRef") or whole.entry.bank_reference,
        batch_id=_given(node.value("Refs/PmtInfId", "Refs/MsgId")) or whole.entry.batch_id,
        return_reason=reason,
        line=node.line,
    )
    return Detail(amount, fee, is_within, entry)


def entries_of(whole: Whole, details: Sequence[Detail]) -> list[Entry]:
    """Return an entry for each transaction; one if there are none.

    Charges that are within the booked amount are added to it: the payer has paid the rest too.
    Raises BadValueError if the amounts of several do not add up to the one that was booked.
    """
    fee, is_within = _charges(whole.node, whole.currency)
    if len(details) <= 1:
        entry, amount = whole.entry, None
        if details:
            one = details[0]
            entry, amount = one.entry, one.amount
            if one.fee:
                fee, is_within = one.fee, one.is_fee_within
        else:
            entry = entry._replace(reference=text_of(whole.node.value("AddtlNtryInf")))
        if is_within is None:
            is_within = amount is not None and amount - fee == whole.amount
        fee = fee if is_within else 0
        return [entry._replace(cents=whole.amount + fee, fee=fee)]
    return _batch(whole, details, fee)


def _batch(whole: Whole, details: Sequence[Detail], own_fee: int) -> list[Entry]:
    amounts = [each.amount for each in details if each.amount is not None]
    if len(amounts) < len(details):
        raise BadValueError(
            f"{len(details) - len(amounts)} of the {len(details)} transactions of the entry name "
            f"no amount in {whole.currency}"
        )
    total = sum(amounts)
    fees = [each.fee for each in details]
    if total == whole.amount:
        within = [each.fee if each.is_fee_within else 0 for each in details]
        amounts = [amount + fee for amount, fee in zip(amounts, within, strict=True)]
        fees = within
    elif total - sum(fees) == whole.amount:
        pass
    elif total - own_fee == whole.amount:
        # One charge for all of them: the first transaction has it.
        fees = [own_fee, *(0 for _ in details[1:])]
    else:
        raise BadValueError(
            f"the {len(details)} transactions of the entry add up to {total / 100:.2f}, and "
            f"{whole.amount / 100:.2f} was booked"
        )
    return [
        each.entry._replace(cents=amount, fee=fee)
        for each, amount, fee in zip(details, amounts, fees, strict=True)
    ]


def _party(node: Node, *, is_payer: bool) -> tuple[str, str]:
    """Return the name and IBAN of the payer of a transaction, or else of who was paid."""
    party, ultimate = ("Dbtr", "UltmtDbtr") if is_payer else ("Cdtr", "UltmtCdtr")
    parties = "RltdPties"
    name = node.value(
        f"{parties}/{party}/Pty/Nm",
        f"{parties}/{party}/Nm",
        f"{parties}/{ultimate}/Pty/Nm",
        f"{parties}/{ultimate}/Nm",
    )
    account = node.value(f"{parties}/{party}Acct/Id/IBAN", f"{parties}/{party}Acct/Id/Othr/Id")
    return text_of(name), compact(account)


def _reference(node: Node, whole: Node) -> str:
    structured = [
        each.text
        for path in ("RmtInf/Strd/CdtrRefInf/Ref", "RmtInf/Strd/RfrdDocInf/Nb")
        for each in node.all(path)
    ]
    free = [each.text for each in node.all("RmtInf/Ustrd")]
    free += [each.text for each in node.all("RmtInf/Strd/AddtlRmtInf")]
    return text_of(*structured, *free) or text_of(
        node.value("AddtlTxInf"), whole.value("AddtlNtryInf")
    )


def _return_reason(node: Node) -> str:
    information = node.first("RtrInf")
    if information is None:
        return ""
    code = information.value("Rsn/Cd", "Rsn/Prtry")
    return text_of(code, information.value("AddtlInf")) or "returned"


def _charges(node: Node, currency: str) -> tuple[int, bool | None]:
    """Return the charges of an element, and whether its amount has them within."""
    fee, marks = 0, set[str]()
    for charges in node.all("Chrgs"):
        for record in charges.all("Rcrd") or [charges]:
            money = record.first("Amt", "TtlChrgsAndTaxAmt")
            if money is None or money.currency != currency:
                continue
            cents = cents_of(money.text)
            fee += -cents if record.value("CdtDbtInd") == "CRDT" else cents
            marks.add(record.value("ChrgInclInd"))
    if marks and marks <= _YES:
        return fee, True
    return fee, (False if marks & _NO else None)


def _given(value: str) -> str:
    return "" if value.upper() in _NOT_PROVIDED else value
