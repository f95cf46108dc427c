"""The filters of a search for subscribers (operation 8), as conditions on indexed columns."""

from collections.abc import Mapping

from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.store.database import Connection

COLUMNS = {
    "email": "email_lower",
    "first_name": "first_name_folded",
    "last_name": "last_name_folded",
    "first_name_plain": "first_name_plain",
    "last_name_plain": "last_name_plain",
    "last_name_end": "last_name_end",
    "renewal_code": "renewal_code_lower",
    "source": "source_lower",
}
_PLAIN = ("last_name_plain", "last_name_end", "first_name_plain")
_UNICODE_FOLDED = {"first_name", "last_name", *_PLAIN}
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_NAMES = {"first_name", "last_name"}
_COUNTED = (*_PLAIN, "last_name", "first_name", "source", "renewal_code", "email")
_LAST_CODE_POINT = 0x10FFFF
_BEFORE_SURROGATES, _BEHIND_SURROGATES = 0xD7FF, 0xE000


class Search:
    """The conditions of a search, by filter name, and their values.

    ``exact`` has the filters for whole values; their indexes are in id order. A first name and a
    whole last name are one group, since there is an index for both.
    """

    def __init__(self, filters: Mapping[str, int | str]) -> None:
        self._patterns = {name: _folded(name, str(text)) for name, text in filters.items()}
        self.names = set(filters)
        self.conditions = {name: self._condition(name, column) for name, column in self._columns()}
        self.values: dict[str, str] = {}
        for name, pattern in self._patterns.items():
            self.values |= _values(name, pattern)
        self.exact = {name for name, text in self._patterns.items() if not text.endswith("*")}
        self.groups = [{name} for name in sorted(filters, key=_COUNTED.index)]
        if "last_name" in self.exact and "first_name" in self.names:
            self.groups = [_NAMES, *(group for group in self.groups if not group <= _NAMES)]

    def _columns(self) -> list[tuple[str, str]]:
        return [(name, COLUMNS[name]) for name in self._patterns]

    def _condition(self, name: str, column: str) -> str:
        return _condition(name, self._patterns[name], column)

    def narrowest(self, connection: Connection, account_id: int, many: int) -> set[str]:
        """Return the group that matches the fewest rows; empty if all match at least ``many``."""
        found: set[str] = set()
        for group in self.groups:
            conditions = " AND ".join(self.conditions[name] for name in sorted(group))
            ((matching,),) = connection.rows(
                f"""
                SELECT count(*) FROM (SELECT 1 FROM subscribers
                    WHERE account_id = :account_id AND {conditions} LIMIT :many)
                """,
                account_id=account_id,
                many=many,
                **{key: value for key, value in self.values.items() if f":{key}" in conditions},
            )
            if matching < many:
                found, many = group, matching
        return found

    def using_index_of(self, names: set[str]) -> list[str]:
        """Return the conditions, written so that SQLite uses only an index of these filters.

        The other conditions compare ``+column``, which has the same value but no index.
        """
        return [
            self._condition(name, column if name in names else f"+{column}")
            for name, column in self._columns()
        ]


def ascii_lower(text: str) -> str:
    """Return ``text`` with only the letters A to Z in lower case."""
    return text.translate(_ASCII_LOWER)


def _folded(name: str, text: str) -> str:
    return text.casefold() if name in _UNICODE_FOLDED else ascii_lower(text)


def _condition(name: str, pattern: str, column: str) -> str:
    """Return the condition that ``column``, an SQL expression, matches the pattern."""
    if not pattern:
        return f"{column} IS NULL"
    if pattern == "*":
        return "TRUE"
    if not pattern.endswith("*"):
        return f"{column} = :{name}"
    if beyond(pattern[:-1]) is None:
        return f"{column} >= :{name}"
    return f"{column} >= :{name} AND {column} < :{name}_beyond"


def _values(name: str, pattern: str) -> dict[str, str]:
    """Return the parameters of the condition."""
    if pattern in {"", "*"}:
        return {}
    if not pattern.endswith("*"):
        return {name: pattern}
    start = pattern[:-1]
    end = beyond(start)
    return {name: start} if end is None else {name: start, f"{name}_beyond": end}


def beyond(start: str) -> str | None:
    """Return the first text, by code points, after all texts that begin with ``start``, or None."""
    head, last = start[:-1], ord(start[-1])
    if last == _LAST_CODE_POINT:
        return beyond(head) if head else None
    return head + chr(_BEHIND_SURROGATES if last == _BEFORE_SURROGATES else last + 1)


def id_in(text: str) -> int:
    """Return the id that a text is; -1, which no record has, if it is none.

    Python converts only so many digits, so the number of digits is compared first.
    """
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(BIGGEST_INTEGER))
    return int(text) if is_number and int(text) <= BIGGEST_INTEGER else -1
