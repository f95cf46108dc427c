"""Finding a subscriber by what a person on the telephone knows, and finding duplicates.

Every query begins at an index: of names, email addresses, renewal codes, orders, or of postal codes
and streets. So it takes milliseconds among a million subscribers (circulation, "Who uses it").
"""

from collections.abc import Iterator
from itertools import groupby, product
from operator import itemgetter
from typing import NamedTuple

from masthead.circulation.duplicates import Person, alike
from masthead.errors import BadUsage
from masthead.store.books.order_keys import items_of, listed
from masthead.store.database import Connection
from masthead.store.name_forms import spellings
from masthead.store.search_filters import Search, ascii_lower, beyond, id_in


class Sought(NamedTuple):
    """What is known about a subscriber; '' is not known. All known values must match.

    ``name`` is one name or several; the first or the last ones are the last name. With a comma, the
    last name is before it. For a last name of several words, the last word is enough, and accents
    may be left out. ``order`` is an order's id or its external reference. The beginning is enough
    for names, streets and postal codes; other values must be complete.
    """

    name: str = ""
    email: str = ""
    renewal_code: str = ""
    order: str = ""
    street: str = ""
    zip_code: str = ""
    city: str = ""


class Found(NamedTuple):
    """A subscriber with the newest address, or the newest matching one, if there is any.

    ``delete_date`` is set for a subscriber who was removed, or merged into ``merged_into``.
    """

    subscriber_id: int
    first_name: str | None
    last_name: str | None
    email: str | None
    renewal_code: str | None
    delete_date: str | None
    address: str | None
    zip_code: str | None
    city: str | None
    company: str | None
    merged_into: int | None

    @property
    def name(self) -> str:
        """First and last name, or else the company or the email address, or ''."""
        names = " ".join(part for part in (self.first_name, self.last_name) if part)
        return names or self.company or self.email or ""


class Alike(NamedTuple):
    """Subscribers who may be one person: ``why`` says what is the same, ``ids`` ascend."""

    why: str
    ids: tuple[int, ...]


_SHOWN = """s.account_id, s.subscriber_id, s.first_name, s.last_name, s.email, s.renewal_code,
            s.delete_date, s.merged_into, s.first_name_folded, s.last_name_folded"""
_MANY = 10_000
"""SQLite has no statistics of values: the search counts the rows of a value, up to this many."""


def columns(of: str) -> str:
    """Return the columns of :class:`Found`, from ``of``, a subscriber, and the address ``a``."""
    return f"""{of}.subscriber_id, {of}.first_name, {of}.last_name, {of}.email, {of}.renewal_code,
            {of}.delete_date, a.address, a.zip_code, a.city, a.company, {of}.merged_into"""


def _in_order(of: str) -> str:
    return f"""{of}.delete_date IS NOT NULL, {of}.last_name_folded IS NULL, {of}.last_name_folded,
            {of}.first_name_folded IS NULL, {of}.first_name_folded, {of}.subscriber_id"""


def _newest(of: str) -> str:
    return f"""(SELECT max(n.address_id) FROM addresses AS n
            WHERE n.account_id = :account_id AND n.subscriber_id = {of}.subscriber_id)"""


def check(sought: Sought) -> None:
    """Raise BadUsage if nothing is sought, or only a city, which has no index."""
    if not any(sought._replace(city="")):
        raise BadUsage(
            "say what is known of the subscriber: a name, an email address, a renewal code, the "
            "reference of an order, a street or a postal code; a city is looked at only beside one "
            "of these",
            code="nothing_sought",
        )


def find(
    connection: Connection,
    account_id: int,
    sought: Sought,
    *,
    limit: int,
    among_max: int | None = None,
) -> list[Found]:
    """Return the subscribers that match, at most ``limit``, sorted by last and first name.

    Those with a ``delete_date`` come last. With ``among_max``, the search looks at only so many
    subscribers whose name matches, because the beginning of a name can match a tenth of all. Raises
    what :func:`check` raises.
    """
    check(sought)
    found: dict[int, Found] = {}
    for names in _names(sought.name):
        filters = {**names, "email": sought.email, "renewal_code": sought.renewal_code}
        search = Search({name: text for name, text in filters.items() if text})
        for each in _matching(connection, account_id, sought, search, limit, among_max):
            found[each.subscriber_id] = each
    return sorted(found.values(), key=place)[:limit]


def place(found: Found) -> tuple[bool, bool, str, bool, str, int]:
    """Return what sorts found subscribers: by last and first name, deleted ones last."""
    first, last = found.first_name, found.last_name
    return (
        found.delete_date is not None,
        last is None,
        (last or "").casefold(),
        first is None,
        (first or "").casefold(),
        found.subscriber_id,
    )


def _names(name: str) -> list[dict[str, str]]:
    """Return the patterns of first and last names that the text can mean; one for all if ''.

    A name of several words can be split after each of them: "Ann van Dyck", "van Dyck Ann".
    """
    found = [
        first | last
        for parts in _parted(name)
        for first, last in product(*map(_patterns, ("first_name", "last_name"), parts))
    ]
    return [each for n, each in enumerate(found) if each not in found[:n]]


def _parted(name: str) -> list[tuple[str, str]]:
    """Return the first and last names that the text can mean."""
    last, comma, first = (part.strip() for part in name.partition(","))
    if comma:
        return [(first, last)]
    words = name.split()
    whole = " ".join(words)
    parts = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    return [*parts, *((last, first) for first, last in parts), ("", whole), (whole, "")]


def _patterns(name: str, text: str) -> list[dict[str, str]]:
    """Return each pattern of a name, by its filter (rules, "Find: names")."""
    text = text.rstrip("*")
    if not text:
        return [{}]
    as_names, as_plain = spellings(text)
    others = [f"{name}_plain"] if name == "first_name" else [f"{name}_plain", f"{name}_end"]
    found = [(name, each) for each in as_names]
    found += [(other, each) for other in others for each in as_plain]
    return [{filter_: f"{each}*"} for filter_, each in found]


def _matching(
    connection: Connection,
    account_id: int,
    sought: Sought,
    search: Search,
    limit: int,
    among_max: int | None,
) -> list[Found]:
    values: dict[str, int | str] = {"account_id": account_id, "limit": limit, **search.values}
    conditions = list(search.conditions.values())
    if connection.dialect == "sqlite" and sought.order:
        conditions = search.using_index_of(set())
    elif connection.dialect == "sqlite":
        narrowest = search.narrowest(connection, account_id, _MANY)
        conditions = search.using_index_of(narrowest or search.names)
    places, of_places = _places(sought)
    candidates = ""
    if sought.order:
        ids = _of_order(connection, account_id, sought.order)
        conditions.append(f"s.subscriber_id IN ({listed(ids)})")
    elif sought.street or sought.zip_code:
        candidates = f"""
            SELECT p.subscriber_id, max(p.address_id) AS address_id FROM addresses AS p
            WHERE p.account_id = :account_id AND {" AND ".join(places)} GROUP BY p.subscriber_id
            """
        values |= of_places
    if places and (sought.order or not candidates):
        conditions.append(
            f"""EXISTS (SELECT 1 FROM addresses AS p WHERE p.account_id = :account_id
                AND p.subscriber_id = s.subscriber_id AND {" AND ".join(places)})"""
        )
        values |= of_places
    which = " AND ".join(["s.account_id = :account_id", *conditions])
    start = "subscribers AS s"
    address, first, found = _newest("f"), "", "NULL"
    if candidates:
        first = f"WITH c AS MATERIALIZED ({candidates})"
        # CROSS JOIN makes SQLite look up each candidate and read nothing else.
        start = "c CROSS JOIN subscribers AS s"
        which += " AND s.subscriber_id = c.subscriber_id"
        address, found = f"coalesce(f.found_id, {address})", "c.address_id"
    if among_max and not places and not sought.order:
        start = f"(SELECT s.* FROM subscribers AS s WHERE {which} LIMIT :among_max) AS s"
        which = "s.account_id = :account_id"
        values["among_max"] = among_max
    return connection.rows_as(
        Found,
        f"""
        {first}
        SELECT {columns("f")} FROM (
            SELECT {_SHOWN}, {found} AS found_id FROM {start}
            WHERE {which} ORDER BY {_in_order("s")} LIMIT :limit) AS f
        LEFT JOIN addresses AS a ON a.account_id = :account_id AND a.address_id = {address}
        ORDER BY {_in_order("f")}
        """,
        **values,
    )


def _of_order(connection: Connection, account_id: int, order: str) -> set[int]:
    """Return the payer of an order, by its id or reference, and the recipients of its items."""
    orders = connection.rows_as(
        tuple[int, int],
        """
        SELECT order_id, subscriber_id FROM orders
        WHERE account_id = :account_id AND order_id = :order_id
        UNION
        SELECT order_id, subscriber_id FROM orders
        WHERE account_id = :account_id AND external_reference_lower = :reference
        """,
        account_id=account_id,
        order_id=id_in(order),
        reference=ascii_lower(order),
    )
    items = items_of(connection, account_id, [order_id for order_id, _ in orders])
    recipients = connection.column_as(
        int,
        f"""
        SELECT (SELECT s.subscriber_id FROM subscriptions AS s
            WHERE s.account_id = :account_id AND s.subscription_id = t.subscription_id)
        FROM terms AS t
        WHERE t.account_id = :account_id AND t.order_item_id IN ({listed(items)})
        """,
        account_id=account_id,
    )
    return {*(payer for _, payer in orders), *recipients}


def _places(sought: Sought) -> tuple[list[str], dict[str, str]]:
    """Return the conditions on the address ``p``, and their values."""
    conditions, values = [], {}
    # A street is narrower: this expression has no index, so the index of codes is not used.
    code = "lower(p.zip_code) || ''" if sought.street else "lower(p.zip_code)"
    for name, column, text in (
        ("street", "lower(p.address)", sought.street),
        ("zip_code", code, sought.zip_code),
    ):
        if start := ascii_lower(text.strip().rstrip("*")):
            conditions.append(f"{column} >= :{name}")
            values[name] = start
            if (end := beyond(start)) is not None:
                conditions.append(f"{column} < :{name}_beyond")
                values[f"{name}_beyond"] = end
    if sought.city:
        conditions.append("lower(p.city) = :city")
        values["city"] = ascii_lower(sought.city.strip())
    return conditions, values


def people(connection: Connection, account_id: int, ids: tuple[int, ...]) -> dict[int, Found]:
    """Return these subscribers with their newest addresses, by their ids."""
    found = connection.rows_as(
        Found,
        f"""
        SELECT {columns("s")} FROM subscribers AS s
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = {_newest("s")}
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(ids)})
        """,
        account_id=account_id,
    )
    return {each.subscriber_id: each for each in found}


def duplicates(
    connection: Connection, account_id: int, *, of: int | None = None
) -> Iterator[Alike]:
    """Yield groups of subscribers who may be one person; ``of``: only those of a subscriber.

    They have the same email address; or the same last name, street and postal code, and first names
    that fit (``circulation.duplicates``). Case does not matter; subscribers with a ``delete_date``
    are left out. Groups are sorted by email address, then by postal code and street.
    """
    values = {"account_id": account_id} if of is None else {"account_id": account_id, "of": of}
    for _, rows in groupby(connection.stream(_same_email(of), **values), itemgetter(0)):
        ids = tuple(sorted(subscriber_id for _, subscriber_id in rows))
        if len(ids) > 1 and (of is None or of in ids):
            yield Alike("email", ids)
    same_place = connection.stream(_same_place(of), **values)
    for _, rows in groupby(same_place, itemgetter(0, 1)):
        for ids in map(tuple, alike(Person(*row[2:]) for row in rows)):
            if of is None or of in ids:
                yield Alike("name and address", ids)


def _same_email(of: int | None) -> str:
    # Grouped by an expression without an index: SQLite reads the table in the order of its keys,
    # instead of every row through an index.
    same = """
            SELECT e.email_lower || '' AS email FROM subscribers AS e
            WHERE e.account_id = :account_id AND e.subscriber_id >= 0 AND e.email IS NOT NULL
            GROUP BY e.email_lower || '' HAVING count(*) > 1"""
    if of is not None:
        same = """
            SELECT e.email_lower AS email FROM subscribers AS e
            WHERE e.account_id = :account_id AND e.subscriber_id = :of"""
    return f"""
        WITH same AS MATERIALIZED ({same})
        SELECT same.email, s.subscriber_id FROM same CROSS JOIN subscribers AS s
        WHERE s.account_id = :account_id AND s.email_lower = same.email AND s.delete_date IS NULL
        ORDER BY same.email, s.subscriber_id
        """


def _same_place(of: int | None) -> str:
    which = "p.address_id >= 0" if of is None else "p.subscriber_id = :of"
    several = "HAVING min(p.subscriber_id) < max(p.subscriber_id)" if of is None else ""
    return f"""
        WITH same AS MATERIALIZED (
            SELECT lower(p.zip_code) || '' AS zip_code, lower(p.address) || '' AS street
            FROM addresses AS p
            WHERE p.account_id = :account_id AND {which} AND p.zip_code IS NOT NULL
                AND p.address IS NOT NULL
            GROUP BY lower(p.zip_code) || '', lower(p.address) || '' {several})
        SELECT same.zip_code, same.street, s.subscriber_id, coalesce(s.first_name_folded, ''),
            s.last_name_folded
        FROM same CROSS JOIN addresses AS a
        JOIN subscribers AS s ON s.account_id = a.account_id AND s.subscriber_id = a.subscriber_id
        WHERE a.account_id = :account_id AND lower(a.zip_code) = same.zip_code
            AND lower(a.address) = same.street
            AND s.delete_date IS NULL AND s.last_name_folded > ''
        ORDER BY same.zip_code, same.street, s.subscriber_id
        """
