"""The catalogue: publications, their planned issues, bundles and products.

Changes apply to later orders; existing orders keep their values. Amounts are whole cents, days
``YYYY-MM-DD``.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.circulation.amounts import decimal
from masthead.databases.queries import Shape
from masthead.errors import BadInput, NotFound
from masthead.store.books.catalogue_records import Bundle, PlannedIssue, Product, Publication
from masthead.store.books.derived_values import refresh
from masthead.store.books.ids import next_ids
from masthead.store.books.issue_references import check_removable
from masthead.store.books.moved_issues import begin_with_moved
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.serving_sql import NOT_PAID
from masthead.store.database import Connection, Value

COLUMNS = {
    "publication": (
        "name",
        "issues_per_year",
        "late_start",
        "grace_counts",
        "credit_issues",
        "unlimited_term_months",
    ),
    "issue": (
        "publication_id",
        "name",
        "number",
        "date",
        "closes_on",
        "mailed_on",
        "closed_at",
    ),
    "bundle": ("name", "price", "tax", "active"),
    "product": ("name", "price", "tax", "active"),
}
"""The things of the catalogue, and their columns beside the key."""

_RECKONED = ("issues_per_year",)
"""The columns of a publication that determine when its subscriptions end."""

Thing = str
Values = Mapping[str, Value]


class Line(NamedTuple):
    """What a bundle gives of one publication; if ``issues`` is -1, unlimited for ``months``.

    ``digital_share`` is the part of the price of a line of type Both that is for the digital
    issues, in hundredths of a percent; None is none.
    """

    publication_id: int
    issues: int
    type: str
    copies: int
    price: int
    months: int | None = None
    digital_share: int | None = None


def _listed(reading: Reading, kind: type[Shape], thing: Thing) -> list[Shape]:
    """Return all things of a kind by key, issues by publication and date."""
    order = "publication_id, date, issue_id" if thing == "issue" else f"{thing}_id"
    return reading.rows_as(
        kind,
        f"""
        SELECT {thing}_id, {", ".join(COLUMNS[thing])} FROM {thing}s
        WHERE account_id = :account_id ORDER BY {order}
        """,
    )


def publications(reading: Reading) -> list[Publication]:
    """Return the publications, sorted by id."""
    return _listed(reading, Publication, "publication")


def planned_issues(reading: Reading) -> list[PlannedIssue]:
    """Return the issues, sorted by publication and date."""
    return _listed(reading, PlannedIssue, "issue")


def products(reading: Reading) -> list[Product]:
    """Return the products, sorted by id."""
    found = _listed(reading, Product, "product")
    return [each._replace(is_active=bool(each.is_active)) for each in found]


def bundles(reading: Reading) -> list[Bundle]:
    """Return the bundles, sorted by id."""
    found = _listed(reading, Bundle, "bundle")
    return [each._replace(is_active=bool(each.is_active)) for each in found]


def lines_of(connection: Connection, account_id: int, bundle_id: int) -> list[Line]:
    """Return the lines of a bundle in their order."""
    return connection.rows_as(
        Line,
        """
        SELECT publication_id, issues, type, copies, price, months, digital_share
        FROM bundle_lines
        WHERE account_id = :account_id AND bundle_id = :bundle_id ORDER BY line_number
        """,
        account_id=account_id,
        bundle_id=bundle_id,
    )


def lines_by_bundle(connection: Connection, account_id: int) -> dict[int, list[Line]]:
    """Return the lines of all bundles in their order, by bundle."""
    found: dict[int, list[Line]] = {}
    for bundle_id, *line in connection.rows(
        """
        SELECT bundle_id, publication_id, issues, type, copies, price, months, digital_share
        FROM bundle_lines
        WHERE account_id = :account_id ORDER BY bundle_id, line_number
        """,
        account_id=account_id,
    ):
        found.setdefault(bundle_id, []).append(Line(*line))
    return found


def add(books: Operation, thing: Thing, values: Values) -> int:
    """Add a publication or a product; return its id. Raises BadInput for an empty name."""
    _check_name(thing, values)
    key = next_ids(books.connection, books.account_id, f"{thing}s")
    books.add(f"{thing}s", **{f"{thing}_id": key, **values})
    return key


def set_values(books: Operation, thing: Thing, key: int, values: Values) -> list[str]:
    """Change columns of a thing; return the names of those that changed.

    Raises NotFound if the thing does not exist, BadInput for an empty name.
    """
    _check_name(thing, values)
    before = _found(books, thing, key)
    changed = {name: value for name, value in values.items() if before[name] != value}
    if changed:
        sets = ", ".join(f"{name} = :{name}" for name in changed)
        books.change(
            f"UPDATE {thing}s SET {sets} WHERE account_id = :account_id AND {thing}_id = :key",
            key=key,
            **changed,
        )
        if thing == "publication" and any(name in _RECKONED for name in changed):
            _refresh(books, key)
        elif "credit_issues" in changed:
            refresh(books, NOT_PAID)
    return list(changed)


def set_active(books: Operation, thing: Thing, key: int, *, is_active: bool) -> bool:
    """Sell a bundle or a product again, or retire it; return whether that changed anything.

    Raises NotFound if it does not exist.
    """
    if _found(books, thing, key)["active"] == int(is_active):
        return False
    books.change(
        f"""
        UPDATE {thing}s SET active = :active WHERE account_id = :account_id AND {thing}_id = :key
        """,
        key=key,
        active=int(is_active),
    )
    return True


def retire_publication(books: Operation, publication_id: int) -> list[int]:
    """Retire all bundles that contain a publication; return their ids.

    Running subscriptions continue. Raises NotFound if there is no such publication.
    """
    _found(books, "publication", publication_id)
    rows = books.rows(
        """
        SELECT DISTINCT b.bundle_id FROM bundles AS b
        JOIN bundle_lines AS l ON l.account_id = b.account_id AND l.bundle_id = b.bundle_id
        WHERE b.account_id = :account_id AND b.active = 1 AND l.publication_id = :publication_id
        ORDER BY b.bundle_id
        """,
        publication_id=publication_id,
    )
    retired = [bundle_id for (bundle_id,) in rows]
    for bundle_id in retired:
        set_active(books, "bundle", bundle_id, is_active=False)
    return retired


def add_issue(books: Operation, values: Values) -> int:
    """Plan an issue; return its id. Recomputes when the publication's subscriptions end.

    Raises NotFound if there is no such publication, BadInput if the date is not later than that of
    its newest closed issue.
    """
    publication_id = int(values["publication_id"] or 0)
    _found(books, "publication", publication_id)
    _check_name("issue", values)
    _check_date(books, publication_id, str(values["date"]))
    key = next_ids(books.connection, books.account_id, "issues")
    books.add("issues", issue_id=key, **values)
    _refresh(books, publication_id)
    return key


def set_issue(books: Operation, issue_id: int, values: Values) -> list[str]:
    """Change a planned issue; return the names of the columns that changed.

    Raises NotFound if there is no such issue, BadInput if it is closed, or if the date is not later
    than that of the newest closed issue.
    """
    found = _open_issue(books, issue_id)
    publication_id = int(found["publication_id"] or 0)
    if "date" in values:
        _check_date(books, publication_id, str(values["date"]), issue_id)
        begin_with_moved(books.connection, books.account_id, issue_id, str(values["date"]))
    changed = set_values(books, "issue", issue_id, values)
    if "date" in changed:
        _refresh(books, publication_id)
    return changed


def remove_issue(books: Operation, issue_id: int) -> None:
    """Remove an issue from the plan.

    Raises what :func:`set_issue` raises. Raises BadInput too if the issue was reopened and
    something names it for good, such as revenue or a complaint, or if a subscription ends after it.
    """
    found = _open_issue(books, issue_id)
    check_removable(books, issue_id)
    books.change(
        "DELETE FROM issues WHERE account_id = :account_id AND issue_id = :issue_id",
        issue_id=issue_id,
    )
    _refresh(books, int(found["publication_id"] or 0))


def add_bundle(
    books: Operation, name: str, lines: Sequence[Line], price: int | None, tax: int
) -> tuple[int, int]:
    """Add a bundle; return its id and price. Raises what :func:`set_bundle` raises for lines."""
    _check_name("bundle", {"name": name})
    price = _check_lines(books, lines, price)
    key = next_ids(books.connection, books.account_id, "bundles")
    books.add("bundles", bundle_id=key, name=name, price=price, tax=tax)
    _write_lines(books, key, lines)
    return key, price


def set_bundle(
    books: Operation, bundle_id: int, values: Values, lines: Sequence[Line] = ()
) -> list[str]:
    """Change a bundle for later orders; return the names of the values that changed.

    ``lines``, if not empty, replace all lines; a line without a digital share keeps the one that
    there was for its publication. Without lines, a new price is also the price of the
    bundle's only line. Raises NotFound if there is no such bundle or publication, BadInput if the
    prices of the lines do not add up to the bundle's, or if two lines have the same publication and
    type.
    """
    _found(books, "bundle", bundle_id)
    before = lines_of(books.connection, books.account_id, bundle_id)
    given = values.get("price")
    if not lines and given is not None and len(before) == 1:
        lines = [before[0]._replace(price=int(given))]
    elif not lines and given is not None:
        raise BadInput(
            f"bundle {bundle_id} has {len(before)} lines: give all of them with their prices, "
            "which add up to the bundle's",
            code="lines_without_prices",
        )
    if lines:
        lines = _with_shares(lines, before)
        values = {**values, "price": _check_lines(books, lines, given)}
    changed = set_values(books, "bundle", bundle_id, values)
    if lines and list(lines) != before:
        _write_lines(books, bundle_id, lines)
        changed = [*changed, "lines"]
    return changed


def set_digital_share(books: Operation, bundle_id: int, share: int) -> list[str]:
    """Set the digital share of the lines of type Both of a bundle, for later orders.

    Returns the names of the values that changed. Raises BadInput if the bundle has no such line,
    NotFound if there is no such bundle.
    """
    _found(books, "bundle", bundle_id)
    before = lines_of(books.connection, books.account_id, bundle_id)
    lines = with_digital_share(before, share)
    if lines == before:
        return []
    _write_lines(books, bundle_id, lines)
    return ["lines"]


def with_digital_share(lines: Sequence[Line], share: int | None) -> list[Line]:
    """Return lines, those of type Both with a digital share in hundredths of a percent.

    Raises BadInput for a share if no line is of type Both.
    """
    if share is not None and all(line.type != "Both" for line in lines):
        raise BadInput("a digital share is for a line of type Both, and the bundle has none")
    return [
        line._replace(digital_share=share) if share is not None and line.type == "Both" else line
        for line in lines
    ]


def _with_shares(lines: Sequence[Line], before: Sequence[Line]) -> list[Line]:
    shares = {(line.publication_id, line.type): line.digital_share for line in before}
    return [
        line._replace(digital_share=shares.get((line.publication_id, line.type)))
        if line.digital_share is None
        else line
        for line in lines
    ]


def _check_name(thing: Thing, values: Values) -> None:
    """Raise BadInput if an empty name is among the values."""
    if not str(values.get("name", thing)).strip():
        raise BadInput(f"the name is empty: give the {thing} one, by which people know it")


def _check_lines(books: Operation, lines: Sequence[Line], price: Value) -> int:
    """Return the price of a bundle with these lines."""
    seen = set()
    for line in lines:
        _found(books, "publication", line.publication_id)
        if (key := (line.publication_id, line.type)) in seen:
            raise BadInput(
                f"two lines have publication {key[0]} as {key[1]}: a bundle has one line for it"
            )
        seen.add(key)
    whole = sum(line.price for line in lines)
    if price is not None and whole != price:
        raise BadInput(
            f"the prices of the lines add up to {decimal(whole)}, and the bundle's is "
            f"{decimal(int(price))}: they must be the same"
        )
    return whole


def _write_lines(books: Operation, bundle_id: int, lines: Sequence[Line]) -> None:
    books.change(
        "DELETE FROM bundle_lines WHERE account_id = :account_id AND bundle_id = :bundle_id",
        bundle_id=bundle_id,
    )
    books.connection.insert_many(
        "bundle_lines",
        ("bundle_id", "line_number", *Line._fields),
        [(bundle_id, number, *line) for number, line in enumerate(lines, 1)],
        account_id=books.account_id,
    )


def _found(books: Operation, thing: Thing, key: int) -> dict[str, Value]:
    """Return the columns of a thing; raise NotFound if it does not exist."""
    columns = COLUMNS[thing]
    row = books.row(
        f"""
        SELECT {", ".join(columns)} FROM {thing}s
        WHERE account_id = :account_id AND {thing}_id = :key
        """,
        key=key,
    )
    if row is None:
        raise NotFound(
            f"account {books.account_id} has no {thing} {key}", code="not_in_catalogue", thing=thing
        )
    return dict(zip(columns, row, strict=True))


def _open_issue(books: Operation, issue_id: int) -> dict[str, Value]:
    found = _found(books, "issue", issue_id)
    if found["closed_at"] is not None:
        raise BadInput(f"issue {issue_id} is closed: what is closed stays as it is")
    return found


def _check_date(
    books: Operation, publication_id: int, day: str, issue_id: int | None = None
) -> None:
    ((newest,),) = books.rows(
        """
        SELECT max(date) FROM issues WHERE account_id = :account_id
            AND publication_id = :publication_id AND closed_at IS NOT NULL
        """,
        publication_id=publication_id,
    )
    if newest is not None and day <= newest:
        raise BadInput(
            f"{day} is not later than {newest}, the date of the newest closed issue of publication "
            f"{publication_id}: issues close in the order of their dates"
        )
    same = books.row(
        """
        SELECT issue_id FROM issues WHERE account_id = :account_id
            AND publication_id = :publication_id AND date = :day AND issue_id <> :issue_id
        """,
        publication_id=publication_id,
        day=day,
        issue_id=-1 if issue_id is None else issue_id,
    )
    if same is not None:
        raise BadInput(
            f"issue {same[0]} of publication {publication_id} is of {day} too: give this one "
            "another date, since dates say which issue comes first"
        )


def _refresh(books: Operation, publication_id: int) -> None:
    """Recompute when the subscriptions of a publication end."""
    refresh(
        books,
        """SELECT s.subscription_id FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.publication_id = :publication_id""",
        publication_id=publication_id,
    )
