"""Collections of direct debits in ISO 20022: pain.008, as the banks of the SEPA read it.

The rules are those of the European Payments Council: the implementation guidelines EPC130-08 (CORE)
and EPC131-08 (B2B). The same values give the same bytes. The file is written
claim by claim, so that its size does not count.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args
from xml.sax.saxutils import escape

from masthead.bank_files.sepa_text import sepa_text

Version = Literal["pain.008.001.08", "pain.008.001.02"]
Scheme = Literal["core", "b2b"]
Sequence = Literal["FRST", "RCUR", "OOFF", "FNAL"]

VERSIONS: tuple[Version, ...] = get_args(Version)
"""The versions that are written, the usual one first."""

NAME_MAX, TEXT_MAX = 70, 140
"""The most characters of a name, and of the text that a payer reads."""

_NAMELESS = "NOTPROVIDED"


class Creditor(NamedTuple):
    """Who collects: ``creditor_id`` is the creditor identifier, ``bic`` may be ""."""

    name: str
    iban: str
    bic: str
    creditor_id: str


class Debit(NamedTuple):
    """A claim on an account: ``cents`` are euros, ``signed_on`` is the day of the mandate.

    ``text`` is what the payer reads on the statement. ``bic`` may be "".
    """

    end_to_end_id: str
    cents: int
    mandate: str
    signed_on: str
    name: str
    iban: str
    bic: str
    text: str


class Batch(NamedTuple):
    """The claims of one scheme and sequence, with their number and sum; banks book them as one."""

    batch_id: str
    scheme: Scheme
    sequence: Sequence
    claims: int
    cents: int
    debits: Iterable[Debit]


class Collection(NamedTuple):
    """A file: its version, its id, when it was made (``YYYY-MM-DD hh:mm:ss``), and its day.

    ``claims`` and ``cents`` are those of all batches.
    """

    version: Version
    message_id: str
    made_at: str
    collected_on: str
    creditor: Creditor
    claims: int
    cents: int


class SumError(ValueError):
    """The claims of a batch are not what the batch says."""


def pieces(collection: Collection, batches: Iterable[Batch]) -> Iterator[str]:
    """Yield the text of a file of UTF-8, piece by piece.

    Raises SumError if the claims of a batch, or the batches, do not add up to what is said of them.
    """
    count = cents = 0
    yield _head(collection)
    for batch in batches:
        yield _batch_head(collection, batch)
        own_count = own_cents = 0
        for debit in batch.debits:
            yield _debit(collection.version, debit)
            own_count += 1
            own_cents += debit.cents
        if (own_count, own_cents) != (batch.claims, batch.cents):
            raise SumError(
                f"batch {batch.batch_id} has {own_count} claims of {_amount(own_cents)}, and not "
                f"{batch.claims} of {_amount(batch.cents)}"
            )
        yield "    </PmtInf>\n"
        count += own_count
        cents += own_cents
    if (count, cents) != (collection.claims, collection.cents):
        raise SumError(
            f"the file has {count} claims of {_amount(cents)}, and not {collection.claims} of "
            f"{_amount(collection.cents)}"
        )
    yield "  </CstmrDrctDbtInitn>\n</Document>\n"


def _head(collection: Collection) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:{collection.version}">
  <CstmrDrctDbtInitn>
    <GrpHdr>
      <MsgId>{escape(collection.message_id)}</MsgId>
      <CreDtTm>{collection.made_at.replace(" ", "T")}</CreDtTm>
      <NbOfTxs>{collection.claims}</NbOfTxs>
      <CtrlSum>{_amount(collection.cents)}</CtrlSum>
      <InitgPty><Nm>{_name(collection.creditor.name)}</Nm></InitgPty>
    </GrpHdr>
"""


def _batch_head(collection: Collection, batch: Batch) -> str:
    creditor = collection.creditor
    return f"""    <PmtInf>
      <PmtInfId>{escape(batch.batch_id)}</PmtInfId>
      <PmtMtd>DD</PmtMtd>
      <BtchBookg>true</BtchBookg>
      <NbOfTxs>{batch.claims}</NbOfTxs>
      <CtrlSum>{_amount(batch.cents)}</CtrlSum>
      <PmtTpInf>
        <SvcLvl><Cd>SEPA</Cd></SvcLvl>
        <LclInstrm><Cd>{batch.scheme.upper()}</Cd></LclInstrm>
        <SeqTp>{batch.sequence}</SeqTp>
      </PmtTpInf>
      <ReqdColltnDt>{collection.collected_on}</ReqdColltnDt>
      <Cdtr><Nm>{_name(creditor.name)}</Nm></Cdtr>
      <CdtrAcct><Id><IBAN>{creditor.iban}</IBAN></Id></CdtrAcct>
      <CdtrAgt>{_agent(collection.version, creditor.bic)}</CdtrAgt>
      <ChrgBr>SLEV</ChrgBr>
      <CdtrSchmeId><Id><PrvtId><Othr>
        <Id>{creditor.creditor_id}</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm>
      </Othr></PrvtId></Id></CdtrSchmeId>
"""


def _debit(version: Version, debit: Debit) -> str:
    text = sepa_text(debit.text, TEXT_MAX)
    remittance = f"        <RmtInf><Ustrd>{escape(text)}</Ustrd></RmtInf>\n" if text else ""
    return f"""      <DrctDbtTxInf>
        <PmtId><EndToEndId>{escape(debit.end_to_end_id)}</EndToEndId></PmtId>
        <InstdAmt Ccy="EUR">{_amount(debit.cents)}</InstdAmt>
        <DrctDbtTx><MndtRltdInf>
          <MndtId>{escape(debit.mandate)}</MndtId><DtOfSgntr>{debit.signed_on}</DtOfSgntr>
        </MndtRltdInf></DrctDbtTx>
        <DbtrAgt>{_agent(version, debit.bic)}</DbtrAgt>
        <Dbtr><Nm>{_name(debit.name)}</Nm></Dbtr>
        <DbtrAcct><Id><IBAN>{debit.iban}</IBAN></Id></DbtrAcct>
{remittance}      </DrctDbtTxInf>
"""


def _agent(version: Version, bic: str) -> str:
    """Return the bank of an account; within the SEPA, the IBAN is enough."""
    if not bic:
        return f"<FinInstnId><Othr><Id>{_NAMELESS}</Id></Othr></FinInstnId>"
    element = "BIC" if version == "pain.008.001.02" else "BICFI"
    return f"<FinInstnId><{element}>{bic}</{element}></FinInstnId>"


def _name(name: str) -> str:
    return escape(sepa_text(name, NAME_MAX) or _NAMELESS)


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
