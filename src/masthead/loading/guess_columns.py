"""Which column of a file is what: by its name, and by its values."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import NamedTuple

from masthead.contract.passwords import PasswordHash
from masthead.contract.printable import counted
from masthead.loading.guess_table import quoted
from masthead.loading.guess_words import (
    COLUMNS,
    CONTRACT,
    GROUPS,
    HOUSE_NUMBER,
    IDENTIFIER,
    INVOICE,
    MEMBERSHIP,
    NAME,
    NO_KEY,
    NUMBER,
    PARTS,
    PASSWORD,
    READER,
    SALUTATIONS,
    SECOND_LINE,
    SECRET,
    SOMEBODY,
    SUBSCRIBER,
    SUBSCRIPTION,
    UNSURE,
    plain,
)

_CUTOFF = 0.86
_SAMPLE = 3
_UNSURE = "GUESS: look at its values"
_DATE = re.compile(r"\d{4}|\d\d?[./ -]\d|[^\W\d_]{3}.*\d\d")
_OF_PEOPLE = re.compile(
    r"addresses\.|subscribers\.(first_name|last_name|email)$|name$|house$|second$"
)

Values = Mapping[str, Sequence[str]]
"""The cells of each column; "" is an empty one."""


class Placed(NamedTuple):
    """What the columns of a file are.

    ``columns`` has a column for each target: ``table.column``, a number ("subscriber",
    "subscription", "invoice"), "name" for whole names, "house" and "second" for parts of a street.
    Parts of a second address begin with "billing " or "shipping ". ``comments`` has the columns
    that are not certain, ``left`` those that are nothing, each with a comment.
    """

    columns: dict[str, str]
    comments: dict[str, str]
    left: list[tuple[str, str]]

    def leave(self, target: str, why: str) -> None:
        """Take the column of a target to be nothing."""
        self.left.append((self.columns.pop(target), why))


def placed(values: Values) -> Placed:
    """Return what the columns are; each target has at most one column."""
    found = Placed({}, {}, [])
    names = sorted(values, key=lambda name: plain(name) in UNSURE)
    for name in names:
        # An inner object that is missing in some records is an empty column there.
        is_object = not any(values[name]) and any(each.startswith(f"{name}.") for each in names)
        target, comment = ("", "") if is_object else _target(plain(name), values[name])
        if not target:
            found.left.append((name, comment))
            continue
        if target == "subscriber" and "subscriber" in found.columns:
            _choose_number(found, name, values)
        elif target in found.columns:
            found.left.append((name, f"looks like {target}, as another column does"))
        else:
            found.columns[target] = name
            if target.endswith("email") and any(cell.count("@") > 1 for cell in values[name]):
                comment = "GUESS: some cells have several addresses"
            if comment:
                found.comments[name] = comment
    _place_by_values(found, values)
    _place_names(found, values)
    order = {name: n for n, name in enumerate(values)}
    return Placed(
        dict(sorted(found.columns.items(), key=lambda item: order[item[1]])),
        found.comments,
        sorted(found.left, key=lambda item: order[item[0]]),
    )


def sample(name: str, cells: Sequence[str]) -> str:
    """Return some values of a column, "" if it has none, and never what looks like a secret."""
    some = list(dict.fromkeys(filter(None, cells)))[: _SAMPLE + 1]
    if not some:
        return "is empty"
    if SECRET.search(plain(name)) or any(map(looks_secret, some)):
        return "its values are not shown"
    shown = some[:1] if len(some) > _SAMPLE else some
    return f"such as {', '.join(map(quoted, shown))}"


def looks_secret(text: str) -> bool:
    """Return whether a text looks like a password, a digest or a token."""
    if re.fullmatch(r"[0-9a-fA-F]{16,}|[$](?![\d.,]+$).{8,}", text):
        return True
    kinds = sum(bool(re.search(kind, text)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w\s]"))
    is_word = not re.search(r"\s|@.+\.|://|^[\d.,:/+-]+T?[\d:.,+-]*Z?$|^\d+\W[A-Za-z]+\W\d+$", text)
    return is_word and ((len(text) >= 8 and kinds == 4) or (len(text) >= 20 and kinds >= 3))


def filled(cells: Sequence[str]) -> list[str]:
    """Return the cells that have a value."""
    return [cell for cell in cells if cell]


def are_all_there(cells: Sequence[str]) -> bool:
    """Return whether each row has a value."""
    return all(cells)


def are_different(rows: Sequence[object]) -> bool:
    """Return whether no value occurs twice."""
    return len(set(rows)) == len(rows)


def look_like_numbers(cells: Sequence[str]) -> bool:
    """Return whether the values look like numbers of records: one word, most with a digit."""
    some = filled(cells)
    words = [cell for cell in some if re.fullmatch(r"[\w.#/-]+", cell)]
    return bool(some) and len(words) == len(some) and _most(some, r"\d")


def _most(cells: Sequence[str], pattern: str) -> bool:
    some = filled(cells)
    return sum(bool(re.search(pattern, cell)) for cell in some) * 5 >= len(some) * 4


# Names of columns.


def _target(word: str, cells: Sequence[str]) -> tuple[str, str]:
    """Return the target of a column, "" if it has none, and a comment."""
    if SECRET.search(word) and word not in COLUMNS:
        are_digests = bool(filled(cells)) and all(map(_is_digest, filled(cells)))
        if PASSWORD.search(word) and are_digests:
            return "subscribers.password_hash", "GUESS: digests of passwords"
        return "", ""
    for comment, find in (
        ("", _exact),
        ("", _of_group),
        ("GUESS: by a part of its name", _of_part),
        ("GUESS: by a similar name", _similar),
    ):
        if target := find(word, cells):
            unfit = _unfit(target, cells)
            is_sure = not unfit and word not in UNSURE
            return ("" if unfit else target), unfit or comment or ("" if is_sure else _UNSURE)
    return "", ""


def _is_digest(cell: str) -> bool:
    try:
        PasswordHash().parse(cell)
    except ValueError:
        return False
    return True


def _exact(word: str, cells: Sequence[str]) -> str:
    if word in READER and look_like_numbers(cells):
        return "subscriber"
    if word in CONTRACT and look_like_numbers(cells) and are_different(cells):
        return "subscription"
    for words, target in (
        (SUBSCRIBER, "subscriber"),
        (SOMEBODY, "subscriber"),
        (SUBSCRIPTION, "subscription"),
        (MEMBERSHIP, "membership"),
        (INVOICE, "invoice"),
        (COLUMNS.keys(), COLUMNS.get(word, "")),
        (NAME | READER, "name"),
        (HOUSE_NUMBER, "house"),
        (SECOND_LINE, "second"),
        (NUMBER, "number"),
    ):
        if word in words:
            return _by_values(target, cells)
    return COLUMNS.get(word.removesuffix("cents").removesuffix("in"), "")


def _by_values(target: str, cells: Sequence[str]) -> str:
    if target == "addresses.country_name" and filled(cells) and _most(cells, "^[A-Z]{2}$"):
        return "addresses.country_abbreviation"
    if target == "subscriptions.date_last_renewed" and any(map(_is_to_come, cells)):
        return "subscriptions.date_expired"
    return target


def _is_to_come(cell: str) -> bool:
    """Return whether a date is in a year to come."""
    year = re.search(r"\b[0-9]{4}\b", cell)
    return year is not None and int(year[0]) > datetime.now(UTC).year


def _of_group(word: str, cells: Sequence[str]) -> str:
    """Return the target of a part of an address for bills or for copies."""
    for group, before in GROUPS.items():
        if found := before.match(word):
            rest = word[found.end() :]
            target = _exact(rest, cells) or _exact(rest.removeprefix("address"), cells)
            if _OF_PEOPLE.match(target):
                return f"{group} {target}"
    return ""


def _of_part(word: str, cells: Sequence[str]) -> str:
    """Return the target of a name that says whose it is, such as ``members.email``."""
    for of, before in PARTS.items():
        if found := before.match(word):
            rest = re.sub("^[0-9]+|1$", "", word[found.end() :])
            target = _exact(rest, cells) or _exact(word[found.end() :], cells)
            target = target or _exact(word[found.end() :].removeprefix("address"), cells)
            if target == "number":
                return of
            is_of_it = (
                target.startswith(("subscriptions.", "publications."))
                if of == "subscription"
                else _OF_PEOPLE.match(target)
            )
            if is_of_it:
                return target
    return _exact(word.removesuffix("1"), cells) if word.endswith("1") else ""


def _similar(word: str, _cells: Sequence[str]) -> str:
    found = get_close_matches(word, COLUMNS, n=1, cutoff=_CUTOFF)
    return COLUMNS[found[0]] if found else ""


def _unfit(target: str, cells: Sequence[str]) -> str:
    """Return why values cannot be those of a target, "" if they can."""
    some = filled(cells)
    if target == "publications.name" and some and {*map(plain, some)} <= SALUTATIONS:
        return "looks like forms of address"
    if target.endswith("subscribers.email") and some and not any("@" in cell for cell in some):
        return "has no email addresses"
    if "date" in target and some and not any(map(_DATE.search, some)):
        return "has no dates"
    return ""


def _choose_number(found: Placed, name: str, values: Values) -> None:
    """Of two numbers of a subscriber, take the one that is always there, or tells rows apart."""
    before = found.columns["subscriber"]

    def rank(column: str) -> tuple[bool, bool, bool]:
        cells = values[column]
        return are_all_there(cells), plain(column) in SUBSCRIBER, are_different(cells)

    better, other = (name, before) if rank(name) > rank(before) else (before, name)
    found.columns["subscriber"] = better
    found.comments[better] = f"GUESS: or is it {quoted(other)}?"
    found.left.append((other, "looks like a number of the subscriber, as another column does"))


def _place_by_values(found: Placed, values: Values) -> None:
    """Place the email address of a part of the address, or of a column that has only such."""
    for group in ("", *(f"{group} " for group in GROUPS)):
        if (target := f"{group}subscribers.email") in found.columns:
            name = found.columns["subscribers.email"] = found.columns.pop(target)
            if group and {"name", "subscribers.last_name"} & found.columns.keys():
                found.comments[name] = "GUESS: is it the address of the same person as the name?"
            return
    for name, why in found.left:
        cells = values[name]
        if not why and filled(cells) and _most(cells, r"^[^@\s]+@[^@\s]+\.\w+$"):
            found.columns["subscribers.email"] = name
            found.comments[name] = "GUESS: by its values"
            found.left.remove((name, why))
            return


def _place_names(found: Placed, values: Values) -> None:
    """Place a whole name: beside a first name it is the last name."""
    for group in ("", *(f"{group} " for group in GROUPS)):
        first, last, name = (
            f"{group}{part}" for part in ("subscribers.first_name", "subscribers.last_name", "name")
        )
        if name in found.columns and last not in found.columns:
            column = found.columns[name]
            if not any(re.search(r"[^\W\d_]", cell) for cell in filled(values[column])):
                found.leave(name, "")
            elif first in found.columns or not any(" " in cell for cell in values[column]):
                found.columns[last] = found.columns.pop(name)
                found.comments[column] = "GUESS: is it the last name?"
        elif name in found.columns:
            found.leave(name, "a whole name, whose parts other columns have")
    if "membership" in found.columns:
        target = "subscription" if "subscriber" in found.columns else "subscriber"
        if target in found.columns:
            found.leave(
                "membership", f"looks like the number of a {target}, as another column does"
            )
        else:
            found.columns[target] = found.columns.pop("membership")
            found.comments.setdefault(
                found.columns[target], f"GUESS: is it the number of the {target}?"
            )


# Keys.


def reader_key(found: Placed, values: Values) -> tuple[str, str]:
    """Return the column that tells a reader from all others, and a comment.

    It is a number; a column whose values are all there and all different; or the email address.
    """
    columns = found.columns
    _prefer_number_of_rows(found, values)
    if (name := columns.get("subscriber")) is not None:
        missing = sum(not cell for cell in values[name])
        if missing:
            return name, f"GUESS: {counted(missing, 'row has', 'rows have')} none"
        return name, found.comments.get(name) or "an id is made from this key"
    is_of_reader = columns.keys().isdisjoint({"subscription", "invoice"})
    if is_of_reader and (name := columns.pop("number", None)) is not None:
        count = len(values[name])
        is_counter = count > 1 and values[name] == [str(n) for n in range(1, count + 1)]
        told = " It counts the rows, and the next file may count otherwise" if is_counter else ""
        return name, f"GUESS: is it the subscriber's number?{told or _repeats(values[name])}"
    likely = [name for name, why in found.left if not why and _tells_rows_apart(name, values[name])]
    if is_of_reader and likely:
        name = max(likely, key=lambda name: bool(IDENTIFIER.search(name)))
        found.left.remove((name, ""))
        return name, "GUESS: its values are all there and all different"
    if (name := columns.get("subscribers.email")) is not None:
        return name, f"GUESS: no number was found.{_repeats(values[name])}"
    name = next((name for name, _ in found.left if are_all_there(values[name])), next(iter(values)))
    for target in [target for target, column in columns.items() if column == name]:
        del columns[target]
    found.left[:] = [(left, why) for left, why in found.left if left != name]
    return name, "GUESS: no column looks like a subscriber's number"


def _prefer_number_of_rows(found: Placed, values: Values) -> None:
    """Take the number of the rows if one such as an account's is that of several people."""
    name, number = found.columns.get("subscriber"), found.columns.get("number")
    if name is None or number is None or plain(name) not in SOMEBODY:
        return
    if not are_different(values[name]) and _tells_rows_apart(number, values[number]):
        del found.columns["number"]
        found.columns["subscriber"] = number
        found.comments[number] = f"GUESS: {quoted(name)} is that of several rows"
        found.left.append((name, ""))


def _tells_rows_apart(name: str, cells: Sequence[str]) -> bool:
    """Return whether a column tells at least two rows apart by numbers that are no amounts."""
    return (
        len(cells) > 1
        and not SECRET.search(plain(name))
        and not NO_KEY.search(plain(name))
        and are_all_there(cells)
        and are_different(cells)
        and look_like_numbers(cells)
        and not any(re.search(r"\d[.,:/-]\d", cell) for cell in cells)
    )


def _repeats(cells: Sequence[str]) -> str:
    twice = next((cell for cell, count in Counter(filled(cells)).items() if count > 1), "")
    return " A value occurs twice" if twice else ""
