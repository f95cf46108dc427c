"""A change of a reader is confirmed by one mail, also when its process is killed.

A look, a dry run and a refusal queue none.
"""

from __future__ import annotations

from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    issues,
    mail_sending,
    page_settings,
    reader_addresses,
    reader_cancelling,
    reader_copies,
    reader_details,
    reader_orders,
    reader_pauses,
    reader_renewing,
)
from masthead.books.reader_addresses import Wanted
from masthead.errors import MastheadError
from tests.billing.outboxes import begin_mail
from tests.circulation.dying import Dying
from tests.circulation.statements import counting
from tests.long import SHORT_ON_SQLITE
from tests.mail.servers import post_office
from tests.readers_books.dying import BAY, MODULE, OPERATIONS, run
from tests.readers_books.household import BEN, of, reader, show_bundle
from tests.servers import as_readers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.books.account import Books
    from tests.circulation.desk import Desk

_PAUSE = "2026-06-01", "2026-06-20"
_AWAY = "2026-07-01", "2026-07-20"


CHANGES: list[tuple[str, Callable[[Books, int, bool], object]]] = [
    (
        "Your pause of Tide",
        lambda books, key, dry: reader_pauses.pause(books, BEN, key, *_PAUSE, dry_run=dry),
    ),
    (
        "Your subscription to Tide goes on",
        lambda books, key, dry: reader_pauses.resume(books, BEN, key, _PAUSE[0], dry_run=dry),
    ),
    (
        "Your cancellation of Tide",
        lambda books, key, dry: reader_cancelling.cancel(books, BEN, key, dry_run=dry),
    ),
    (
        "Your subscription to Tide goes on",
        lambda books, key, dry: reader_cancelling.take_back(books, BEN, key, dry_run=dry),
    ),
    (
        "The address of your subscription to Tide",
        lambda books, key, dry: reader_addresses.change(
            books, BEN, Wanted(BAY, [key]), dry_run=dry
        ),
    ),
    (
        "Another address for Tide",
        lambda books, key, dry: reader_addresses.change_for_a_while(
            books, BEN, key, BAY, *_AWAY, dry_run=dry
        ),
    ),
    (
        "Your other address for Tide has ended",
        lambda books, key, dry: reader_addresses.end_for_a_while(
            books, BEN, key, _AWAY[0], dry_run=dry
        ),
    ),
    (
        "automatically",
        lambda books, key, dry: reader_renewing.switch_on(books, BEN, key, 1, "Yes.", dry_run=dry),
    ),
    (
        "automatically",
        lambda books, key, dry: reader_renewing.switch_off(books, BEN, key, dry_run=dry),
    ),
    (
        "Your order",
        lambda books, key, dry: reader_orders.order(
            books, BEN, reader_orders.Wanted("renew", 1, "invoice", key), dry_run=dry
        ),
    ),
    (
        "copy",
        lambda books, key, dry: reader_copies.missing(books, BEN, key, 5, dry_run=dry),
    ),
    (
        "Your name was changed",
        lambda books, _key, dry: reader_details.rename(books, BEN, "Benn", "Ash", dry_run=dry),
    ),
]
"""Changes that follow one another, and the subjects of their mails."""


@pytest.fixture
def household(household: Desk) -> Desk:
    """The account sends mails; Ben can renew, and one issue came."""
    begin_mail(household)
    show_bundle(household)
    issues.close(household.books, 5)
    household.to("2026-05-20")
    return household


def subjects(desk: Desk) -> list[str]:
    """Return the subjects of the mails to Ben, in their order."""
    return [str(each["subject"]) for each in desk.table("mails") if each["subscriber_id"] == BEN]


def test_each_change_queues_one_mail_and_it_arrives_once(household: Desk) -> None:
    """Readers' pages, "Mails". What is done already is refused and queues none."""
    key = of(household).ben
    for count, (subject, do) in enumerate(CHANGES, 1):
        do(reader(household, BEN), key, True)
        assert len(subjects(household)) == count - 1
        do(reader(household, BEN), key, False)
        assert len(subjects(household)) == count
        assert subject in subjects(household)[-1]
        if "order" not in subject and "address" not in subject and "name" not in subject:
            with pytest.raises(MastheadError):
                do(reader(household, BEN), key, False)
            assert len(subjects(household)) == count
    with post_office() as (office, server):
        for _ in range(2):
            mail_sending.send(household.books, server)
    assert [each.message["Subject"] for each in office.mails] == subjects(household)


def newest(desk: Desk) -> str:
    """Return the text of the newest mail."""
    return str(desk.table("mails")[-1]["text"])


def test_the_mail_about_a_subscription_that_ended_today_promises_nothing(household: Desk) -> None:
    page_settings.set_values(household.books, {"cancel": "at_once"})
    reader_cancelling.cancel(reader(household, BEN), BEN, of(household).ben, at_once=True)
    assert "It ended on 20 May 2026. It is not renewed." in newest(household)
    assert "Until then" not in newest(household)


def test_the_mails_about_automatic_renewal_say_until_when_it_lasts(household: Desk) -> None:
    key, books = of(household).ben, reader(household, BEN)
    reader_renewing.switch_on(books, BEN, key, 1, "Yes.")
    assert "It now lasts until 30 April 2027." in newest(household)
    reader_renewing.switch_off(books, BEN, key)
    assert "It ends on 30 April 2027." in newest(household)


def test_the_mail_about_another_address_that_ends_early_says_its_last_day(household: Desk) -> None:
    key, books = of(household).ben, reader(household, BEN)
    reader_addresses.change_for_a_while(books, BEN, key, BAY, *_AWAY)
    household.to("2026-07-10")
    reader_addresses.end_for_a_while(books, BEN, key, _AWAY[0])
    assert "that was noted from 1 July 2026 to 20 July 2026." in newest(household)
    assert "It holds until 9 July 2026." in newest(household)


def test_the_mail_about_a_pause_that_does_not_begin_says_which_one(household: Desk) -> None:
    key, books = of(household).ben, reader(household, BEN)
    reader_pauses.pause(books, BEN, key, *_PAUSE)
    reader_pauses.resume(books, BEN, key, _PAUSE[0])
    said = "you ended the pause of Tide that was noted from 1 June 2026 on.\n"
    assert f"{said}The subscription now lasts until 30 April 2027." in newest(household)
    reader_pauses.pause(books, BEN, key, *_PAUSE)
    household.to("2026-06-10")
    reader_pauses.resume(books, BEN, key, _PAUSE[0])
    assert f"{said}Its last day is 9 June 2026.\nThe subscription now lasts" in newest(household)


def test_looking_queues_no_mail(household: Desk) -> None:
    key, books = of(household).ben, reader(household, BEN)
    reader_pauses.look_at_pause(books, BEN, key, *_PAUSE)
    reader_cancelling.look_at_cancelling(books, BEN, key)
    assert subjects(household) == []


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    with Dying(MODULE) as running:
        yield running


@SHORT_ON_SQLITE
@pytest.mark.parametrize("operation", OPERATIONS)
def test_who_is_killed_between_leaves_change_and_mail_or_neither(
    household: Desk, dying: Dying, operation: str
) -> None:
    """Readers' pages, "Mails": the process dies, the reader sends the form again."""
    url = as_readers(household.url)
    before = household.everything()
    with counting() as counts:
        run(url, household.now, operation, dry_run=True)
    for at in (2, counts.sent // 2, counts.sent - 1):
        assert dying.do(url, household.now, operation, at) == -SIGKILL
        assert household.everything() == before
    at = counts.sent
    while household.everything() == before:
        assert dying.do(url, household.now, operation, at) == -SIGKILL
        at += 1
    assert len(subjects(household)) == len(household.table("reader_changes")) == 1
