"""The catalogue: publications, planned issues, bundles, products, classes and reasons.

Changes apply to later orders; existing orders keep their values. Amounts are whole cents, days are
``YYYY-MM-DD``. Values are those of the columns in :data:`COLUMNS`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import counted
from masthead.contract.subscription_types import UNLIMITED, type_in_words
from masthead.store.books import cancel_reasons, catalogue, own_classes
from masthead.store.books.cancel_reasons import Reason
from masthead.store.books.catalogue import COLUMNS, Line, Thing
from masthead.store.books.catalogue_records import Bundle, PlannedIssue, Product, Publication
from masthead.store.database import Value

__all__ = [
    "COLUMNS",
    "Bundle",
    "Done",
    "Line",
    "Orderable",
    "PlannedIssue",
    "Product",
    "Publication",
    "Reason",
    "add",
    "add_bundle",
    "add_class",
    "add_issue",
    "add_reason",
    "bundles",
    "classes",
    "orderable",
    "planned_issues",
    "products",
    "publications",
    "reasons",
    "remove_issue",
    "remove_reason",
    "retire",
    "retire_publication",
    "set_bundle",
    "set_issue",
    "set_values",
]

Values = Mapping[str, Value]


class Done(NamedTuple):
    """What the operation did to a thing of the catalogue, by its id."""

    key: int
    sentence: str


def publications(books: Books) -> list[Publication]:
    """Return the publications, sorted by id."""
    with books.read() as reading:
        return catalogue.publications(reading)


def planned_issues(books: Books) -> list[PlannedIssue]:
    """Return the issues, closed and planned, by publication and date."""
    with books.read() as reading:
        return catalogue.planned_issues(reading)


def bundles(books: Books) -> list[tuple[Bundle, list[Line]]]:
    """Return the bundles, including retired ones, sorted by id, each with its lines."""
    with books.read() as reading:
        return [
            (each, catalogue.lines_of(reading.connection, books.account_id, each.bundle_id))
            for each in catalogue.bundles(reading)
        ]


def products(books: Books) -> list[Product]:
    """Return the products, including retired ones, sorted by id."""
    with books.read() as reading:
        return catalogue.products(reading)


class Orderable(NamedTuple):
    """What can be ordered: active bundles and products, and the issues with which to begin.

    ``contents`` says what a bundle gives, by its id: ``12 issues of Tide (print)``.
    ``publications`` has their names by id, ``lines`` the lines of bundles by their ids.
    """

    bundles: Sequence[Bundle]
    products: Sequence[Product]
    issues: Sequence[PlannedIssue]
    contents: Mapping[int, str]
    publications: Mapping[int, str]
    lines: Mapping[int, Sequence[Line]]

    def renewing(self, publication_id: int, type_: str, last: int | None) -> int | None:
        """Return the bundle with which a subscription is renewed; None if none fits.

        It is the ``last`` one that was bought for it, if that still gives the publication and the
        type, or else the first that gives nothing else.
        """
        fitting = {
            each.bundle_id: {
                (line.publication_id, line.type) for line in self.lines[each.bundle_id]
            }
            for each in self.bundles
            if each.bundle_id in self.lines
        }
        if (publication_id, type_) in fitting.get(last or 0, ()):
            return last
        return next((key for key, of in fitting.items() if of == {(publication_id, type_)}), None)


def orderable(books: Books) -> Orderable:
    """Return what can be ordered; issues that are not closed, by publication and date."""
    with books.read() as reading:
        names = {each.publication_id: each.name or "" for each in catalogue.publications(reading)}
        lines = catalogue.lines_by_bundle(reading.connection, books.account_id)
        contents = {
            key: " and ".join(_content(line, names[line.publication_id]) for line in own)
            for key, own in lines.items()
        }
        return Orderable(
            [each for each in catalogue.bundles(reading) if each.is_active],
            [each for each in catalogue.products(reading) if each.is_active],
            [each for each in catalogue.planned_issues(reading) if not each.closed_at],
            contents,
            names,
            lines,
        )


def _content(line: Line, publication: str) -> str:
    """Return what a line of a bundle gives."""
    issues = "all issues" if line.issues == UNLIMITED else counted(line.issues, "issue")
    copies = f", {line.copies} copies" if line.copies > 1 else ""
    return f"{issues} of {publication} ({type_in_words(line.type)}{copies})"


def classes(books: Books) -> list[str]:
    """Return the classes that the publisher has added, in the order of adding."""
    with books.read() as reading:
        return own_classes.own_classes(reading.connection, books.account_id)


def reasons(books: Books) -> list[Reason]:
    """Return the reasons for cancelling, in the order of adding."""
    with books.read() as reading:
        return cancel_reasons.reasons(reading)


def add(books: Books, thing: Thing, values: Values, *, dry_run: bool = False) -> Done:
    """Add a publication or a product. Raises BadInput for an empty name."""
    with books.change(dry_run=dry_run) as change:
        key = catalogue.add(change, thing, values)
        done = Done(key, f"{thing} {key} was added")
        change.say(done.sentence)
    return done


def set_values(
    books: Books, thing: Thing, key: int, values: Values, *, dry_run: bool = False
) -> Done:
    """Change a publication or a product.

    Changing the issues per year moves subscription end dates. Raises NotFound if the thing does not
    exist, BadInput for an empty name.
    """
    with books.change(dry_run=dry_run) as change:
        changed = catalogue.set_values(change, thing, key, values)
        done = Done(key, _changed(thing, key, changed))
        if changed:
            change.say(done.sentence)
    return done


def retire(books: Books, thing: Thing, key: int, *, dry_run: bool = False) -> Done:
    """Take a bundle or a product off sale. Raises NotFound if it does not exist."""
    done = Done(key, f"{thing} {key} was retired")
    with books.change(dry_run=dry_run) as change:
        if not catalogue.set_active(change, thing, key, is_active=False):
            return Done(key, f"nothing changed: {thing} {key} is retired already")
        change.say(done.sentence)
    return done


def retire_publication(books: Books, publication_id: int, *, dry_run: bool = False) -> Done:
    """Retire all bundles that contain a publication, so that it can no longer be ordered.

    Running subscriptions continue. Raises NotFound if there is no such publication.
    """
    with books.change(dry_run=dry_run) as change:
        retired = catalogue.retire_publication(change, publication_id)
        if not retired:
            said = f"nothing changed: no bundle for sale has publication {publication_id}"
            return Done(publication_id, said)
        listed = ", ".join(map(str, retired))
        done = Done(publication_id, f"retired with publication {publication_id}: bundles {listed}")
        change.say(done.sentence)
    return done


def add_issue(books: Books, values: Values, *, dry_run: bool = False) -> Done:
    """Plan an issue; the end dates of the publication's subscriptions follow from its date.

    Raises NotFound if there is no such publication, BadInput if the date is not later than that of
    its newest closed issue, or another issue has the date.
    """
    with books.change(dry_run=dry_run) as change:
        key = catalogue.add_issue(change, values)
        whose, day = values["publication_id"], values["date"]
        done = Done(key, f"issue {key} of publication {whose} was planned for {day}")
        change.say(done.sentence)
    return done


def set_issue(books: Books, issue_id: int, values: Values, *, dry_run: bool = False) -> Done:
    """Change a planned issue; subscription end dates move with its date.

    Raises NotFound if there is no such issue, BadInput if it is closed, and for a date as
    :func:`add_issue` does.
    """
    with books.change(dry_run=dry_run) as change:
        changed = catalogue.set_issue(change, issue_id, values)
        done = Done(issue_id, _changed("issue", issue_id, changed))
        if changed:
            change.say(done.sentence)
    return done


def remove_issue(books: Books, issue_id: int, *, dry_run: bool = False) -> Done:
    """Remove an issue from the plan: subscriptions last longer, and lose no issue.

    Raises NotFound if there is no such issue. Raises BadInput if the issue is closed, if it was
    reopened and revenue, a complaint or the like names it, or if a subscription ends after it.
    """
    done = Done(issue_id, f"issue {issue_id} was taken out of the plan")
    with books.change(dry_run=dry_run) as change:
        catalogue.remove_issue(change, issue_id)
        change.say(done.sentence)
    return done


def add_bundle(
    books: Books,
    name: str,
    lines: Sequence[Line],
    price: int | None,
    tax: int,
    *,
    digital_share: int | None = None,
    dry_run: bool = False,
) -> Done:
    """Add a bundle; its price is the sum of its lines, and a given ``price`` must match.

    Raises what :func:`set_bundle` raises for its lines.
    """
    with books.change(dry_run=dry_run) as change:
        lines = catalogue.with_digital_share(lines, digital_share)
        key, price = catalogue.add_bundle(change, name, lines, price, tax)
        prices = (
            f"{in_currency(price, change.currency)} and tax {in_currency(tax, change.currency)}"
        )
        done = Done(key, f"bundle {key} was added: {prices}")
        change.say(done.sentence)
    return done


def set_bundle(
    books: Books,
    bundle_id: int,
    values: Values,
    lines: Sequence[Line] = (),
    *,
    digital_share: int | None = None,
    dry_run: bool = False,
) -> Done:
    """Change a bundle for later orders; ``lines``, if given, replace all lines.

    Without lines, a new price is also the price of the bundle's only line. ``digital_share`` is the
    part of the price of lines of type Both that is for the digital issues, in hundredths of a
    percent. Raises NotFound if there is no such bundle or publication. Raises BadInput if the
    prices of the lines do not add up to the bundle's, if two lines have the same publication and
    type, and for a digital share of a bundle without a line of type Both.
    """
    with books.change(dry_run=dry_run) as change:
        changed = catalogue.set_bundle(change, bundle_id, values, lines)
        if digital_share is not None:
            of_lines = catalogue.set_digital_share(change, bundle_id, digital_share)
            changed = list(dict.fromkeys([*changed, *of_lines]))
        done = Done(bundle_id, _changed("bundle", bundle_id, changed))
        if changed:
            change.say(done.sentence)
    return done


def add_class(books: Books, name: str, *, dry_run: bool = False) -> Done:
    """Add a class of the publisher's own, for copies that cost nothing (circulation, "Class").

    Raises BadInput for a name that is empty, too long, or taken by an existing class.
    """
    with books.change(dry_run=dry_run) as change:
        key, name = own_classes.add_own_class(change, name)
        done = Done(key, f"class {key} was added: {name}")
        change.say(done.sentence)
    return done


def add_reason(books: Books, name: str, *, dry_run: bool = False) -> Done:
    """Add a reason for cancelling. Raises BadInput if it exists already, in any case."""
    with books.change(dry_run=dry_run) as change:
        key, name = cancel_reasons.add_reason(change, name)
        done = Done(key, f"reason {key} for cancelling was added: {name}")
        change.say(done.sentence)
    return done


def remove_reason(books: Books, reason_id: int, *, dry_run: bool = False) -> Done:
    """Remove a reason; cancelled subscriptions keep it. Raises NotFound if there is none."""
    done = Done(reason_id, f"reason {reason_id} for cancelling was removed")
    with books.change(dry_run=dry_run) as change:
        cancel_reasons.remove_reason(change, reason_id)
        change.say(done.sentence)
    return done


def _changed(thing: Thing, key: int, names: Sequence[str]) -> str:
    if not names:
        return "nothing changed: it has these values already"
    return f"{thing} {key}: changed {', '.join(names)}"
