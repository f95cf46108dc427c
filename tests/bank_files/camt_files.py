"""Makes statements of camt, as banks write them in the versions of the message."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

IBAN = "DE89370400440532013000"
PAYER_IBAN = "NL91ABNA0417164300"

PARTIES_SINCE = 7
"""From this version on, a party has its name one level deeper."""

STATES_SINCE = 8
"""From this version on, a state is a code in an element."""

AMOUNTS_SINCE = 3
"""From this version on, a transaction has its own amount, which is needed up to version 6."""

CHARGES_SINCE = 4
"""From this version on, charges say whether the amount has them within."""


class Detail(NamedTuple):
    """A transaction of an entry: an amount with a sign, and what it tells."""

    amount: str = ""
    name: str = "Erika Mustermann"
    texts: Sequence[str] = ("2026-000001",)
    reference: str = ""
    end_to_end_id: str = "NOTPROVIDED"
    mandate_id: str = ""
    fee: str = ""
    is_fee_within: bool | None = None
    reason: str = ""


class Booked(NamedTuple):
    """An entry with its transactions."""

    amount: str = "10.00"
    details: Sequence[Detail] = (Detail(),)
    state: str = "BOOK"
    booked_on: str = "2026-11-03"
    value_date: str = "2026-11-02"
    bank_reference: str = ""
    batch_id: str = ""


class Form(NamedTuple):
    """The version and the message of a file."""

    version: int = 2
    message: str = "camt.053"

    @property
    def element(self) -> str:
        """The element of a statement."""
        return "Stmt" if self.message == "camt.053" else "Ntfctn"


FIRST = Form()
"""A statement of the oldest version."""


def document(
    entries: Iterable[Booked] = (),
    *,
    version: int = 2,
    message: str = "camt.053",
    balances: Sequence[str] = (),
    account: str = IBAN,
) -> str:
    """Return a file with one statement; ``balances`` are the opening and the closing one."""
    form = Form(version, message)
    return enclosed(statement(entries, form, balances=balances, account=account), form)


def enclosed(statements: str, form: Form = FIRST) -> str:
    """Return the file of some statements."""
    outer = "BkToCstmrStmt" if form.element == "Stmt" else "BkToCstmrDbtCdtNtfctn"
    namespace = f"urn:iso:std:iso:20022:tech:xsd:{form.message}.001.{form.version:02}"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Document xmlns="{namespace}">\n'
        f"<{outer}><GrpHdr><MsgId>1</MsgId><CreDtTm>2026-11-03T20:00:00</CreDtTm></GrpHdr>\n"
        f"{statements}</{outer}></Document>\n"
    )


def statement(
    entries: Iterable[Booked],
    form: Form = FIRST,
    *,
    balances: Sequence[str] = (),
    page: int | None = None,
    account: str = IBAN,
) -> str:
    """Return a statement of a file."""
    name = form.element
    pages = f"<StmtPgntn><PgNb>{page}</PgNb><LastPgInd>true</LastPgInd></StmtPgntn>"
    shown = "".join(
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{_money(amount)}"
        f"<Dt><Dt>2026-11-03</Dt></Dt></Bal>"
        for code, amount in zip(("OPBD", "CLBD"), balances, strict=False)
    )
    return (
        f"<{name}><Id>S1</Id>{'' if page is None else pages}"
        "<CreDtTm>2026-11-03T20:00:00</CreDtTm>"
        f"<Acct><Id><IBAN>{account}</IBAN></Id><Ccy>EUR</Ccy></Acct>{shown}\n"
        f"{''.join(_entry(each, form) for each in entries)}</{name}>\n"
    )


def _money(amount: str) -> str:
    mark = "DBIT" if amount.startswith("-") else "CRDT"
    return f'<Amt Ccy="EUR">{amount.lstrip("-")}</Amt><CdtDbtInd>{mark}</CdtDbtInd>'


def _entry(entry: Booked, form: Form) -> str:
    is_new = form.version >= STATES_SINCE
    details = "".join(_detail(each, entry, form) for each in entry.details)
    if entry.batch_id:
        details = f"<Btch><PmtInfId>{entry.batch_id}</PmtInfId></Btch>{details}"
    return (
        f"<Ntry>{_money(entry.amount)}"
        f"<Sts>{_tag('Cd', entry.state) if is_new else entry.state}</Sts>"
        f"<BookgDt><Dt>{entry.booked_on}</Dt></BookgDt><ValDt><Dt>{entry.value_date}</Dt></ValDt>"
        f"{_tag('AcctSvcrRef', entry.bank_reference)}"
        "<BkTxCd><Prtry><Cd>NTRF+166</Cd></Prtry></BkTxCd>"
        f"<NtryDtls>{details}</NtryDtls></Ntry>\n"
    )


def _detail(detail: Detail, entry: Booked, form: Form) -> str:
    money = _money(detail.amount) if detail.amount else ""
    if money and form.version < AMOUNTS_SINCE:
        number = detail.amount.lstrip("-")
        money = f'<AmtDtls><TxAmt><Amt Ccy="EUR">{number}</Amt></TxAmt></AmtDtls>'
    is_payer = entry.amount.startswith("-") == bool(detail.reason)
    role = "Dbtr" if is_payer else "Cdtr"
    name = _tag("Nm", detail.name)
    party = _tag("Pty", name, is_text=False) if form.version >= PARTIES_SINCE else name
    texts = "".join(_tag("Ustrd", each) for each in detail.texts)
    if detail.reference:
        texts += f"<Strd><CdtrRefInf><Ref>{detail.reference}</Ref></CdtrRefInf></Strd>"
    reason = f"<RtrInf><Rsn>{_tag('Cd', detail.reason)}</Rsn></RtrInf>" if detail.reason else ""
    return (
        f"<TxDtls><Refs>{_tag('EndToEndId', detail.end_to_end_id)}"
        f"{_tag('MndtId', detail.mandate_id)}</Refs>{money}{_charges(detail, form)}"
        f"<RltdPties><{role}>{party}</{role}>"
        f"<{role}Acct><Id><IBAN>{PAYER_IBAN}</IBAN></Id></{role}Acct></RltdPties>"
        f"<RmtInf>{texts}</RmtInf>{reason}</TxDtls>"
    )


def _charges(detail: Detail, form: Form) -> str:
    if not detail.fee:
        return ""
    record = f'<Amt Ccy="EUR">{detail.fee}</Amt><CdtDbtInd>DBIT</CdtDbtInd>'
    if form.version < AMOUNTS_SINCE:
        return f"<Chrgs>{record}</Chrgs>"
    if detail.is_fee_within is not None and form.version >= CHARGES_SINCE:
        record += f"<ChrgInclInd>{str(detail.is_fee_within).lower()}</ChrgInclInd>"
    return f"<Chrgs><Rcrd>{record}</Rcrd></Chrgs>"


def _tag(name: str, text: str, *, is_text: bool = True) -> str:
    return f"<{name}>{escape(text) if is_text else text}</{name}>" if text else ""
