"""Labels and cover sheets of an issue's list, to print (billing, "Documents")."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from masthead.billing.printed import Language, Payer, Seller
from masthead.billing.printed_letters import Label, PrintedCover, PrintedLabels
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.contract.printable import printable
from masthead.documents.label_sheets import Sheet
from masthead.documents.rendering import Appearance
from masthead.errors import BadInput
from masthead.store.billing.printing import person_of
from masthead.store.billing.settings import settings_of
from masthead.store.books import mail_file
from masthead.store.books.issue import Issue, find_issue
from masthead.store.books.operation import Reading
from masthead.store.database import Row

SHEETS_AT_ONCE = 100
"""How many sheets of labels, or cover sheets, a PDF has (decisions, "Many letters in one PDF")."""

COPIES_OF_BUNDLE = 50
"""The most copies of a bundle, if nothing else is said."""


Kind = TypeVar("Kind", PrintedLabels, PrintedCover)


class Sheets(NamedTuple, Generic[Kind]):
    """What is to be printed of a list: the documents of each PDF, one after the other."""

    mailing_list_id: int
    appearance: Appearance
    parts: Iterator[Sequence[Kind]]


@contextmanager
def labels(
    books: Books,
    issue_id: int,
    sheet: Sheet,
    mailing_list_id: int | None = None,
    *,
    skip: int = 0,
) -> Iterator[Sheets[PrintedLabels]]:
    """Yield the labels of the printed copies of a list, one for each address, in its order.

    The list is the issue's main list, or one of its gap lists. ``skip`` is how many labels of the
    first sheet are used already. Raises NotFound if there is no such issue, BadInput if it has no
    such list, if the list has no printed copies, and for more labels to skip than a sheet has.
    """
    if not 0 <= skip < sheet.labels:
        raise BadInput(
            f"{skip} labels cannot be left out: a sheet {sheet.name} has {sheet.labels}, of which "
            "one at least is to be free"
        )
    with books.scan() as reading:
        settings = settings_of(reading)
        written, first, rows = _rows(reading, find_issue(reading, issue_id), mailing_list_id)

        def parts() -> Iterator[Sequence[PrintedLabels]]:
            found = (_label(row) for row in (first, *rows))
            left_out = skip
            while some := tuple(islice(found, sheet.labels * SHEETS_AT_ONCE - left_out)):
                yield [
                    PrintedLabels(
                        sheet=sheet.name,
                        written_on=reading.today,
                        language=settings.language,
                        home=settings.seller_country,
                        publisher=settings.seller_name,
                        skip=left_out,
                        labels=some,
                    )
                ]
                left_out = 0

        yield Sheets(written.mailing_list_id, appearance_of(settings), parts())


@contextmanager
def covers(
    books: Books,
    issue_id: int,
    mailing_list_id: int | None = None,
    *,
    most: int = COPIES_OF_BUNDLE,
) -> Iterator[Sheets[PrintedCover]]:
    """Yield the cover sheets of the bundles of a list, in the order of its labels.

    A bundle has at most ``most`` copies, or one address with more, all to one country. Raises what
    :func:`labels` does, and BadInput if the account has no name of a seller.
    """
    if most < 1:
        raise BadInput(f"a bundle has 1 copy or more, not {most}")
    with books.scan() as reading:
        settings = settings_of(reading)
        issue = find_issue(reading, issue_id)
        written, first, rows = _rows(reading, issue, mailing_list_id)
        seller = sender_of(settings)
        bundles = list(_bundles((first, *rows), most))
        made = [
            _cover(issue, bundle, settings.language, seller, (number, len(bundles)), reading.today)
            for number, bundle in enumerate(bundles, 1)
        ]
        parts = (made[at : at + SHEETS_AT_ONCE] for at in range(0, len(made), SHEETS_AT_ONCE))
        yield Sheets(written.mailing_list_id, appearance_of(settings), parts)


def _rows(
    reading: Reading, issue: Issue, mailing_list_id: int | None
) -> tuple[mail_file.Written, Row, Iterator[Row]]:
    """Return which list it is, its first row, and the others."""
    written = mail_file.list_of(reading, issue, mailing_list_id)
    rows = mail_file.rows_of(reading, written)
    first = next(rows, None)
    if first is None:
        raise BadInput(
            f"this list of {issue.title} has no printed copies: there is nothing to print"
        )
    return written, first, rows


def _label(row: Row) -> Label:
    keyline, copies, *fields = row
    address = person_of(int(keyline.split(" ")[0]), fields)
    return Label(address=address, keyline=keyline, copies=copies)


class _Bundle(NamedTuple):
    """Addresses that follow each other: the first one, the last postal code, and the sums."""

    first: Payer
    last_code: str
    pieces: int
    copies: int


def _bundles(rows: Iterator[Row] | tuple[Row, ...], most: int) -> Iterator[_Bundle]:
    open_one: _Bundle | None = None
    for row in rows:
        _, copies, *fields = row
        to = person_of(0, fields)
        if open_one and (
            _country(to) != _country(open_one.first) or open_one.copies + copies > most
        ):
            yield open_one
            open_one = None
        if open_one is None:
            open_one = _Bundle(to, to.postal_code, 1, copies)
        else:
            open_one = open_one._replace(
                last_code=to.postal_code,
                pieces=open_one.pieces + 1,
                copies=open_one.copies + copies,
            )
    if open_one:
        yield open_one


def _country(to: Payer) -> str:
    return (to.country_name or to.country).strip().casefold()


def _cover(
    issue: Issue,
    bundle: _Bundle,
    language: Language,
    seller: Seller,
    which: tuple[int, int],
    today: str,
) -> PrintedCover:
    number, bundles = which
    return PrintedCover(
        written_on=today,
        language=language,
        seller=seller,
        publication=printable(issue.publication or ""),
        issue=printable(issue.name or ""),
        issue_on=issue.date,
        number=number,
        bundles=bundles,
        country=bundle.first.country,
        country_name=bundle.first.country_name,
        first_code=bundle.first.postal_code,
        last_code=bundle.last_code,
        pieces=bundle.pieces,
        copies=bundle.copies,
    )
