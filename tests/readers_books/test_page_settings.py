"""The settings of the readers' pages, and the bundles on them, as operations on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import Books, page_settings, reader_bundles
from masthead.errors import BadInput, MastheadError, NotFound
from masthead.store import accounts
from masthead.store.page_settings import account_of_site, sites

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    shared.empty()
    shared.to("2026-03-01")
    shared.put("bundles", bundle_id=1, name="Tide for a year", price=1200, tax=84)
    return shared


@pytest.fixture
def elsewhere(desk: Desk) -> Books:
    """Another account of the database, whose books are kept elsewhere."""
    store = desk.books.store
    with store.reader() as connection:
        is_there = accounts.get_account(connection, 77)
    if not is_there:
        accounts.add_account(store, {"account_id": 77, "company_name": "Ebb Press"})
    books = Books(store, 77, desk.actor)
    names = [each.name for each in page_settings.listing(books) if each.is_set]
    page_settings.set_values(books, dict.fromkeys(names, ""))
    return books


def audited(desk: Desk) -> list[str]:
    return desk.connection.column_as(str, "SELECT summary FROM audit ORDER BY entry_id")


def test_settings_are_set_replaced_and_cleared(desk: Desk) -> None:
    done = page_settings.set_values(desk.books, {"site": "Tide", "pause_days": "30"})
    assert done.sentence == "2 settings of the readers' pages changed: site and pause_days"
    assert audited(desk)[-1] == done.sentence
    page_settings.set_values(desk.books, {"pause_days": ""})
    assert page_settings.show(desk.books).site == "tide"
    assert page_settings.show(desk.books).pause_days == 60
    assert [each.name for each in page_settings.listing(desk.books) if each.is_set] == ["site"]


def test_the_same_values_again_and_a_dry_run_change_nothing(desk: Desk) -> None:
    page_settings.set_values(desk.books, {"site": "tide"})
    before = audited(desk)
    again = page_settings.set_values(desk.books, {"site": "tide"})
    assert again.sentence.startswith("nothing changed")
    dry = page_settings.set_values(desk.books, {"gift": "no"}, dry_run=True)
    assert dry.names == ("gift",)
    assert page_settings.show(desk.books).gift is True
    assert audited(desk) == before


def test_a_bad_value_changes_nothing(desk: Desk) -> None:
    with pytest.raises(BadInput, match=r"^cancel: 'never' is not one of"):
        page_settings.set_values(desk.books, {"site": "tide", "cancel": "never"})
    assert desk.table("page_settings") == []


def test_a_site_belongs_to_one_account(desk: Desk, elsewhere: Books) -> None:
    page_settings.set_values(desk.books, {"site": "tide"})
    with pytest.raises(BadInput, match="'tide' is the site of another account"):
        page_settings.set_values(elsewhere, {"site": "TIDE"})
    page_settings.set_values(elsewhere, {"site": "ebb"})
    with desk.books.store.reader() as connection:
        found = [account_of_site(connection, name) for name in ("tide", "ebb", "none", "TIDE")]
        assert found == [desk.books.account_id, 77, None, None]
        assert sites(connection) == ["ebb", "tide"]


def test_the_pages_of_books_that_are_elsewhere_have_settings_too(
    desk: Desk, elsewhere: Books
) -> None:
    """The pages then show, and change nothing."""
    page_settings.set_values(elsewhere, {"site": "ebb"})
    assert page_settings.show(elsewhere).name == "Ebb Press"
    page_settings.set_values(elsewhere, {"name": "Ebb & Flow"})
    assert page_settings.show(elsewhere).name == "Ebb & Flow"
    with pytest.raises(MastheadError, match="mode elsewhere"):
        reader_bundles.set_uses(elsewhere, 1, ["buy"])
    assert desk.table("page_settings") == []


def test_readers_see_the_bundles_of_which_it_is_said(desk: Desk) -> None:
    done = reader_bundles.set_uses(desk.books, 1, ("gift", "renew"))
    assert done.sentence == "readers see bundle 1: renew and gift"
    assert audited(desk)[-1] == done.sentence
    assert reader_bundles.shown(desk.books) == {1: {"renew", "gift"}}
    again = reader_bundles.set_uses(desk.books, 1, ("renew", "gift"))
    assert again.sentence.startswith("nothing changed")
    off = reader_bundles.set_uses(desk.books, 1, ())
    assert off.sentence == "readers no longer see bundle 1"
    assert reader_bundles.shown(desk.books) == {}
    with pytest.raises(NotFound, match="there is no bundle 9"):
        reader_bundles.set_uses(desk.books, 9, ["buy"])
