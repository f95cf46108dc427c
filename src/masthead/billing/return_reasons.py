"""Why a bank gave a direct debit back: its codes in words (billing, "Direct debit").

The codes are those of ISO 20022, external code sets, "Status reason" and "Return reason", as the
banks of the SEPA use them (EPC173-14, "Guidance on Reason Codes for SEPA Direct Debit
R-transactions").
"""

from masthead.contract.printable import single_spaced

_WORDS = {
    "AC01": "the IBAN is wrong",
    "AC04": "the account is closed",
    "AC06": "the account is blocked",
    "AC13": "the account is one of a consumer",
    "AG01": "the account allows no direct debit",
    "AG02": "the code of the operation is wrong",
    "AM04": "insufficient funds",
    "AM05": "the same claim was handed in twice",
    "BE01": "the name does not fit the account",
    "BE04": "the address of the publisher is missing",
    "BE05": "the creditor identifier is wrong",
    "CNOR": "the bank of the publisher is not known",
    "DNOR": "the bank of the payer is not known",
    "ED05": "the settlement failed",
    "FF01": "the file is not valid",
    "FF05": "the kind of direct debit is wrong",
    "MD01": "no mandate",
    "MD02": "data of the mandate are missing or wrong",
    "MD06": "the payer objects",
    "MD07": "the payer has died",
    "MS02": "the payer gave no reason",
    "MS03": "the bank gave no reason",
    "RC01": "the BIC is wrong",
    "RR01": "the payer's account or identification is missing",
    "RR02": "the payer's name or address is missing",
    "RR03": "the publisher's name or address is missing",
    "RR04": "the law forbids it",
    "SL01": "the payer limits direct debits",
    "TM01": "the file came too late",
}

REASON_MAX = 200
"""The most characters of a reason that is stored."""


def reason_of(code: str, text: str = "") -> str:
    """Return a bank's reason as it is stored and shown: the code, and what it means.

    A code that is not known, or without one, is followed by the bank's own ``text``.
    """
    known = _WORDS.get(code.upper())
    if known:
        return f"{code.upper()} {known}"
    said = single_spaced(f"{code} {text}")[:REASON_MAX].strip()
    return said or "the bank gave no reason"


def reason_in(text: str) -> str:
    """Return the reason of an entry of a statement, which has the code first: ``AC04 closed``."""
    code, _, rest = text.partition(" ")
    return reason_of(code, rest)
