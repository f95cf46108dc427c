"""The text ``:86:`` of an entry of MT940, whose parts banks mark in three ways.

German banks number them (``?20``) and write the parts of SEPA with a key (``EREF+``). Dutch and
other banks write them between slashes (``/EREF/``). All others write free text.
"""

import re
from collections.abc import Mapping, Sequence

from masthead.bank_files.accounts import compact
from masthead.bank_files.entries import Entry, text_of

_NUMBERED = re.compile(r"([0-9]{3})([?<>~])[0-9]{2}")
_TEXTS = [*range(20, 30), *range(60, 64)]
_LENGTH, _LENGTH_OF_LINE = 27, 65
"""A numbered part or a line that is as long as it may be goes on without a space."""

_KEYS = re.compile(r"(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|COAM|OAMT|RCUR|BIC|IBAN|PURP)[+:] ?")
_SLASHED = re.compile(
    r"/(TRTP|IBAN|BIC|NAME|REMI|EREF|MARF|CSID|RTRN|PREF|ISDT|PURP|CNTP|ORDP|BENM|ULTC|ULTD|SVCL"
    r"|ADDR|ID|USTD|STRD|CUR|CRED)(?=/)"
)
_RETURNS = {"108", "109", "128", "159", "184"}
"""The codes of German banks for what is given back."""

_NOTHING = {"", "NOTPROVIDED", "NONREF"}


def described(entry: Entry, lines: Sequence[str]) -> Entry:
    """Return an entry with what its text tells of the other side and of the references."""
    text = _joined(lines, _LENGTH_OF_LINE)
    if numbered := _NUMBERED.match(text):
        return _by_numbers(entry, "".join(lines), *numbered.groups())
    if text.startswith("/") and _SLASHED.match(text):
        return _by_slashes(entry, text)
    return entry._replace(reference=text_of(entry.reference, text))


def _joined(parts: Sequence[str], length: int) -> str:
    """Join parts, with a space after each that is shorter than it may be."""
    return "".join(part if len(part) >= length else f"{part} " for part in parts).strip()


def _by_numbers(entry: Entry, text: str, code: str, sign: str) -> Entry:
    fields: dict[int, str] = {}
    for piece in text.split(sign)[1:]:
        if piece[:2].isdigit():
            fields.setdefault(int(piece[:2]), piece[2:])
    written = [fields[number] for number in _TEXTS if number in fields]
    keyed, free = _by_keys(written)
    reason = fields.get(34, "") if code in _RETURNS else ""
    return entry._replace(
        name=text_of(_joined([fields.get(32, ""), fields.get(33, "")], _LENGTH)),
        iban=compact(fields.get(31, "") or keyed.get("IBAN", "")),
        reference=text_of(keyed.get("SVWZ", ""), free, entry.reference),
        end_to_end_id=_given(keyed, "EREF"),
        mandate_id=_given(keyed, "MREF"),
        batch_id=_given(keyed, "KREF"),
        return_reason=(reason or "returned") if code in _RETURNS else "",
    )


def _by_keys(parts: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the texts of keys such as ``EREF+``, and the text before all of them."""
    key, found = "", dict[str, list[str]]()
    for part in parts:
        pieces = _KEYS.split(part)
        found.setdefault(key, []).append(pieces[0])
        for name, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            key = name
            found.setdefault(key, []).append(piece)
    # The key takes a part of the length of its first piece.
    texts = {name: _joined_after(name, pieces) for name, pieces in found.items()}
    return texts, texts.pop("", "")


def _joined_after(name: str, pieces: Sequence[str]) -> str:
    """Join the pieces of a key's text; its first piece is shorter by the key."""
    first = len(name) + 1 if name else 0
    head = pieces[0] if len(pieces[0]) + first >= _LENGTH else f"{pieces[0]} "
    return f"{head}{_joined(pieces[1:], _LENGTH)}".strip()


def _by_slashes(entry: Entry, text: str) -> Entry:
    pieces = _SLASHED.split(text)
    fields: dict[str, str] = {}
    for name, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        fields[name] = text_of(fields.get(name, ""), piece.strip("/ "))
    # ``/CNTP/`` and ``/ORDP/`` have the IBAN, the BIC, the name and the place of the other side.
    party = (fields.get("CNTP") or "").split("/")
    iban = fields.get("IBAN") or party[0]
    name = fields.get("NAME") or (party[2] if len(party) > 2 else "")
    texts = (fields.get(name, "") for name in ("CUR", "STRD", "REMI", "USTD"))
    return entry._replace(
        name=text_of(name),
        iban=compact(iban),
        reference=text_of(*texts, entry.reference),
        end_to_end_id=_given(fields, "EREF"),
        mandate_id=_given(fields, "MARF"),
        batch_id=_given(fields, "PREF"),
        return_reason=fields.get("RTRN", ""),
    )


def _given(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(name, "").strip()
    return "" if value.upper() in _NOTHING else value
