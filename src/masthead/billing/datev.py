"""The journal in DATEV's format: a file EXTF of the category Buchungsstapel.

DATEV publishes the format ("DATEV-Format", header version 700, format version 13): Windows-1252,
CR LF, semicolons, texts in quotation marks, decimals with a comma. A row has one debit and one
credit account, so an entry with more lines takes several rows. Fields that Masthead does not know
stay empty.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.journal_entries import Entry, Pair, pairs
from masthead.circulation.amounts import in_currency
from masthead.contract.moments import is_day
from masthead.errors import BadInput

ENCODING = "cp1252"
FILE_PREFIX = "EXTF_"
ROWS_MAX = 99_999
"""DATEV reads no more rows of one file."""

_CENTS_MAX = 999_999_999_999
_TEXT_MAX = 60
_NUMBER_MAX = 36
_TITLE_MAX = 30
_LENGTHS = range(4, 9)
_ACCOUNT = re.compile(r"(?!0+$)[0-9]{1,9}")
_NOT_IN_A_NUMBER = re.compile(r"[^A-Za-z0-9_$%&*+/-]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

_NUMBERED = {
    "Beleginfo": ("Beleginfo - Art {}", "Beleginfo - Inhalt {}", 8),
    "Zusatzinformation": ("Zusatzinformation - Art {}", "Zusatzinformation - Inhalt {}", 20),
}
_FIELDS = """
Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basis-Umsatz;WKZ Basis-Umsatz
Konto;Gegenkonto (ohne BU-Schlüssel);BU-Schlüssel;Belegdatum;Belegfeld 1;Belegfeld 2;Skonto
Buchungstext;Postensperre;Diverse Adressnummer;Geschäftspartnerbank;Sachverhalt;Zinssperre
Beleglink;*Beleginfo;KOST1 - Kostenstelle;KOST2 - Kostenstelle;Kost-Menge
EU-Land u. UStID (Bestimmung);EU-Steuersatz (Bestimmung);Abw. Versteuerungsart;Sachverhalt L+L
Funktionsergänzung L+L;BU 49 Hauptfunktionstyp;BU 49 Hauptfunktionsnummer;BU 49 Funktionsergänzung
*Zusatzinformation;Stück;Gewicht;Zahlweise;Forderungsart;Veranlagungsjahr;Zugeordnete Fälligkeit
Skontotyp;Auftragsnummer;Buchungstyp;USt-Schlüssel (Anzahlungen);EU-Land (Anzahlungen)
Sachverhalt L+L (Anzahlungen);EU-Steuersatz (Anzahlungen);Erlöskonto (Anzahlungen);Herkunft-Kz
Buchungs GUID;KOST-Datum;SEPA-Mandatsreferenz;Skontosperre;Gesellschaftername;Beteiligtennummer
Identifikationsnummer;Zeichnernummer;Postensperre bis;Bezeichnung SoBil-Sachverhalt
Kennzeichen SoBil-Buchung;Festschreibung;Leistungsdatum;Datum Zuord. Steuerperiode;Fälligkeit
Generalumkehr (GU);Steuersatz;Land;Abrechnungsreferenz;BVV-Position
EU-Land u. UStID (Ursprung);EU-Steuersatz (Ursprung);Abw. Skontokonto
"""


def _names() -> Iterator[str]:
    for name in _FIELDS.strip().replace("\n", ";").split(";"):
        if name.startswith("*"):
            kind, content, count = _NUMBERED[name[1:]]
            for number in range(1, count + 1):
                yield kind.format(number)
                yield content.format(number)
        else:
            yield name


FIELDS = tuple(_names())
"""The 125 fields of a row, in the order of the format; DATEV reads them by their place."""

_PLACES = {name: place for place, name in enumerate(FIELDS)}


class Batch(NamedTuple):
    """What the head of the file says: whose books, which days, and when it was written.

    ``consultant`` and ``client`` are the numbers that DATEV gave the accountant and the publisher.
    ``fiscal_year`` is the first day of the fiscal year, ``first`` and ``last`` are the days of the
    entries. ``account_length`` is the number of digits of general ledger accounts. ``made_at`` is a
    time such as ``2026-12-03 10:15:00``.
    """

    consultant: int
    client: int
    fiscal_year: str
    first: str
    last: str
    title: str
    currency: str
    made_at: str
    account_length: int = 4


def check_batch(batch: Batch, numbers: Mapping[JournalAccount, str]) -> None:
    """Raise BadInput if DATEV would refuse the head, or a number of an account."""
    if not 1_001 <= batch.consultant <= 9_999_999:
        raise BadInput(
            f"{batch.consultant} is not a consultant's number of DATEV: it is from 1001 to 9999999"
        )
    if not 1 <= batch.client <= 99_999:
        raise BadInput(f"{batch.client} is not a client's number of DATEV: it is from 1 to 99999")
    if batch.account_length not in _LENGTHS:
        raise BadInput(
            f"accounts have {_LENGTHS[0]} to {_LENGTHS[-1]} digits in DATEV, "
            f"not {batch.account_length}"
        )
    for account, number in numbers.items():
        if not _ACCOUNT.fullmatch(number) or len(number) > batch.account_length + 1:
            raise BadInput(
                f"the account {account} has the number {number!r}: DATEV takes digits only, "
                f"{batch.account_length} of them, or {batch.account_length + 1} of a person's "
                "account"
            )
    _check_days(batch)


def _check_days(batch: Batch) -> None:
    if not is_day(batch.fiscal_year):
        raise BadInput(f"{batch.fiscal_year!r} is not the first day of a fiscal year")
    end = f"{int(batch.fiscal_year[:4]) + 1:04}{batch.fiscal_year[4:]}"
    if not batch.fiscal_year <= batch.first <= batch.last < end:
        raise BadInput(
            f"{batch.first} to {batch.last} is not within the fiscal year that begins on "
            f"{batch.fiscal_year}: a file of DATEV has days of one year"
        )


def lines(
    batch: Batch, entries: Iterable[Entry], numbers: Mapping[JournalAccount, str]
) -> Iterator[bytes]:
    """Yield the lines of the file, each with its end.

    Raises BadInput for what the format cannot hold: a head or an account number that DATEV refuses,
    an amount of 10,000,000,000.00 or more, and more than 99,999 rows.
    """
    check_batch(batch, numbers)
    yield _line(_head(batch))
    yield _line(FIELDS)
    count = 0
    for entry in entries:
        for pair in pairs(entry.lines, numbers):
            count += 1
            if count > ROWS_MAX:
                raise BadInput(
                    f"DATEV reads {ROWS_MAX:,} rows of a file, and {batch.first} to {batch.last} "
                    "has more: write a file for fewer days"
                )
            yield _line(_row(batch, entry, pair))


def _head(batch: Batch) -> list[str]:
    """Return the 31 fields of the head."""
    made_at = re.sub("[^0-9]", "", batch.made_at).ljust(17, "0")
    first = ["EXTF", "700", "21", "Buchungsstapel", "13", made_at, "", "RE", "Masthead", ""]
    whose = [str(batch.consultant), str(batch.client), _compact(batch.fiscal_year)]
    what = [
        str(batch.account_length),
        _compact(batch.first),
        _compact(batch.last),
        _text(batch.title, _TITLE_MAX),
        _text("", 0),
    ]
    kind = ["1", "0", "0", _text(batch.currency, 3)]
    rest = ["", '""', "", "", '""', "", "", '""', '""']
    quoted = {0, 3, 7, 8, 9}
    first = [_text(each, _TEXT_MAX) if n in quoted else each for n, each in enumerate(first)]
    return [*first, *whose, *what, *kind, *rest]


def _row(batch: Batch, entry: Entry, pair: Pair) -> list[str]:
    if pair.cents > _CENTS_MAX:
        raise BadInput(
            f"{in_currency(pair.cents, batch.currency)} of {entry.day} ({entry.text}) is more than "
            f"DATEV takes in a row: at most {in_currency(_CENTS_MAX, batch.currency)}"
        )
    row = [""] * len(FIELDS)
    for name, value in (
        ("Umsatz (ohne Soll/Haben-Kz)", f"{pair.cents // 100},{pair.cents % 100:02}"),
        ("Soll/Haben-Kennzeichen", '"S"'),
        ("WKZ Umsatz", _text(batch.currency, 3)),
        ("Konto", pair.debit),
        ("Gegenkonto (ohne BU-Schlüssel)", pair.credit),
        ("Belegdatum", f"{entry.day[8:]}{entry.day[5:7]}"),
        ("Belegfeld 1", _text(_NOT_IN_A_NUMBER.sub("-", entry.invoice or ""), _NUMBER_MAX)),
        ("Buchungstext", _text(entry.text, _TEXT_MAX)),
        ("Festschreibung", "0"),
    ):
        row[_PLACES[name]] = value
    return row


def _compact(day: str) -> str:
    return day.replace("-", "")


def _text(text: str, at_most: int) -> str:
    """Return a text as a field has it: without control characters, shortened, in quotes."""
    short = _CONTROL.sub(" ", text)[:at_most].replace('"', '""')
    return f'"{short}"'


def _line(fields: Iterable[str]) -> bytes:
    return (";".join(fields) + "\r\n").encode(ENCODING, errors="replace")
