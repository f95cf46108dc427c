"""What a search for subscribers (operation 8) asks for, as conditions on indexed columns."""

from collections.abc import Mapping

from masthead.store.database import Connection

__all__ = ["COLUMNS", "Search", "ascii_lower"]

COLUMNS = {
    "email": "email_lower",
    "first_name": "first_name_folded",
    "last_name": "last_name_folded",
    "renewal_code": "renewal_code_lower",
    "source": "source_lower",
}
_UNICODE_FOLDED = {"first_name", "last_name"}
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_NAMES = {"first_name", "last_name"}
_COUNTED = ("last_name", "first_name", "source", "renewal_code", "email")
_LAST_CODE_POINT = 0x10FFFF
_BEFORE_SURROGATES, _BEHIND_SURROGATES = 0xD7FF, 0xE000


class Search:
    """What a search asks for: the conditions by the names of their filters, and their values.

    ``exact`` are those whose index is in the order of the ids. A first name with a whole last name
    counts as one group, for which there is an index.
    """

    def __init__(self, filters: Mapping[str, int | str]) -> None:
        asked_for = {name: _search_condition(name, str(asked)) for name, asked in filters.items()}
        self.names = set(asked_for)
        self.conditions = {name: condition for name, (condition, _) in asked_for.items()}
        self.values = {
            key: value for _, found in asked_for.values() for key, value in found.items()
        }
        self.exact = {name for name, asked in filters.items() if not str(asked).endswith("*")}
        self.groups = [{name} for name in sorted(asked_for, key=_COUNTED.index)]
        if "last_name" in self.exact and "first_name" in self.names:
            self.groups = [_NAMES, *(group for group in self.groups if not group <= _NAMES)]

    def narrowest(self, connection: Connection, account_id: int, many: int) -> set[str]:
        """Return the group that fewest rows fit; none where ``many`` fit each."""
        found: set[str] = set()
        for group in self.groups:
            fit = " AND ".join(self.conditions[name] for name in sorted(group))
            ((fitting,),) = connection.rows(
                f"""
                SELECT count(*) FROM (SELECT 1 FROM subscribers
                    WHERE account_id = :account_id AND {fit} LIMIT :many)
                """,
                account_id=account_id,
                many=many,
                **{key: value for key, value in self.values.items() if f":{key}" in fit},
            )
            if fitting < many:
                found, many = group, fitting
        return found

    def led_by(self, names: set[str]) -> list[str]:
        """Return the conditions so that SQLite takes an index of these; it would take any."""
        # What is added to a column is nothing, but SQLite knows no index of the sum.
        return [
            condition if name in names else condition.replace(column, f"+{column}")
            for name, condition in self.conditions.items()
            for column in [COLUMNS[name]]
        ]


def ascii_lower(text: str) -> str:
    """Return ``text`` with the letters A to Z in lower case, and no other."""
    return text.translate(_ASCII_LOWER)


def _search_condition(name: str, asked: str) -> tuple[str, dict[str, str]]:
    column = COLUMNS[name]
    folded = asked.casefold() if name in _UNICODE_FOLDED else ascii_lower(asked)
    if not folded:
        return f"{column} IS NULL", {}
    if not folded.endswith("*"):
        return f"{column} = :{name}", {name: folded}
    if folded == "*":
        return "TRUE", {}
    start = folded[:-1]
    beyond = _beyond(start)
    if beyond is None:
        return f"{column} >= :{name}", {name: start}
    values = {name: start, f"{name}_beyond": beyond}
    return f"{column} >= :{name} AND {column} < :{name}_beyond", values


def _beyond(start: str) -> str | None:
    """Return the first text, by code points, behind all that begin with ``start``, if any is."""
    head, last = start[:-1], ord(start[-1])
    if last == _LAST_CODE_POINT:
        return _beyond(head) if head else None
    return head + chr(_BEHIND_SURROGATES if last == _BEFORE_SURROGATES else last + 1)
