"""The mapping of a CSV file of a bank, shop or card provider: a small TOML file.

It says which column has what, and how amounts and days are written.
"""

import re
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct

from masthead.contract.printable import printable
from masthead.errors import BadInput

_TOKENS = re.compile(r"YYYY|YY|MM|M|DD|D|[-/. ]")
_FIELDS = {
    "YYYY": "(?P<y>[0-9]{4})",
    "YY": "(?P<y>[0-9]{2})",
    "MM": "(?P<m>[0-9]{2})",
    "M": "(?P<m>[0-9]{1,2})",
    "DD": "(?P<d>[0-9]{2})",
    "D": "(?P<d>[0-9]{1,2})",
}
_SKIPPED_MAX = 1000
_TIME = r"(?:[T ,]+[0-9]{1,2}:[0-9]{2}.*)?"


class Columns(Struct, forbid_unknown_fields=True, frozen=True):
    """The names of the columns; ``date`` and an amount are required.

    The amount is ``amount``, with a sign or with ``direction``; or ``credit`` and ``debit``; or
    ``net``, which is the amount without the fee.
    """

    date: str
    booked_on: str = ""
    amount: str = ""
    credit: str = ""
    debit: str = ""
    direction: str = ""
    net: str = ""
    fee: str = ""
    currency: str = ""
    account: str = ""
    name: str = ""
    iban: str = ""
    reference: str | list[str] = ""
    end_to_end_id: str = ""
    mandate_id: str = ""
    bank_reference: str = ""
    return_reason: str = ""
    state: str = ""

    @property
    def references(self) -> list[str]:
        """The names of the columns whose texts are the reference."""
        names = [self.reference] if isinstance(self.reference, str) else self.reference
        return [name for name in names if name]

    @property
    def names(self) -> list[str]:
        """All names of columns."""
        fields = [field for field in self.__struct_fields__ if field != "reference"]
        return [name for field in fields if (name := getattr(self, field))] + self.references


class Mapping(Struct, forbid_unknown_fields=True, frozen=True):
    """How a CSV file is read.

    ``debits`` are the values of ``direction`` for money that went, ``booked`` the values of
    ``state`` for booked rows, all if it is empty. ``currency`` and ``account`` (an IBAN) are those
    of a file without such columns. ``payment_type`` is how it was paid, such as ``card``.
    """

    columns: Columns
    dates: str = "YYYY-MM-DD"
    decimal_sign: str = "."
    separator: str = ""
    skip_lines: int = 0
    currency: str = ""
    account: str = ""
    payment_type: str = "transfer"
    debits: list[str] = []
    booked: list[str] = []

    @property
    def thousands(self) -> str:
        """What may stand between thousands in an amount."""
        return "'\u2019 \u00a0\u202f" + ("," if self.decimal_sign == "." else ".")


def read_mapping(path: Path, name: str | None = None) -> Mapping:
    """Return the mapping in a file. Raises BadInput, with the place, if it is not one.

    ``name`` is what errors call the file, by default its path.
    """
    shown = name or str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{shown}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{shown}: is not a TOML file in UTF-8") from None
    try:
        mapping = msgspec.convert(tomllib.loads(text), Mapping)
    except RecursionError:
        raise BadInput(f"{shown}: is nested too deeply") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput(f"{shown}: {printable(error)}") from None
    if problem := _problem(mapping):
        raise BadInput(f"{shown}: {problem}")
    return mapping


def _problem(mapping: Mapping) -> str:
    """Return what is wrong in a mapping, "" if nothing is."""
    columns = mapping.columns
    ways = (bool(columns.amount), bool(columns.credit or columns.debit), bool(columns.net))
    problems = {
        "columns: name the column of the amount: amount, or credit and debit, or net with fee": (
            ways not in {(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)}
        ),
        "columns.net: name the column of the amount or of the fee too": (
            columns.net and not (columns.amount or columns.fee)
        ),
        "debits: list the values of columns.direction for money that went": (
            columns.direction and not mapping.debits
        ),
        "booked: list the values of columns.state for booked rows": (
            columns.state and not mapping.booked
        ),
        "decimal_sign: is '.' or ','": mapping.decimal_sign not in {".", ","},
        "separator: is one character": len(mapping.separator) > 1,
        "skip_lines: is from 0 to 1000": not 0 <= mapping.skip_lines <= _SKIPPED_MAX,
        "dates: is a form such as 'DD.MM.YYYY', of YYYY or YY, MM or M, and DD or D": (
            date_form(mapping.dates) is None
        ),
    }
    return next((sentence for sentence, is_wrong in problems.items() if is_wrong), "")


def date_form(dates: str) -> re.Pattern[str] | None:
    """Return the pattern of a form of dates, with groups y, m and d; None if it is not a form."""
    tokens = _TOKENS.findall(dates)
    if "".join(tokens) != dates:
        return None
    parts = sorted(token[0] for token in tokens if token[0].isalpha())
    if parts != ["D", "M", "Y"]:
        return None
    return re.compile("".join(_FIELDS.get(token, re.escape(token)) for token in tokens) + _TIME)
