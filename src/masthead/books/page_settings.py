"""The settings of an account's readers' pages (readers' pages, "Settings").

They can be set in both modes: where the books are kept elsewhere, the pages show, and change
nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.page_settings import (
    SETTINGS,
    PageSettings,
    settings_from,
    stored_text,
    texts_of,
)
from masthead.contract.printable import counted, listed, printable
from masthead.databases.queries import Batch
from masthead.errors import BadInput, NotFound
from masthead.store import Store, accounts
from masthead.store import page_settings as stored
from masthead.store.books.operation import is_here
from masthead.store.setting_texts import save_texts, stored_texts


class SettingShown(NamedTuple):
    """A setting with its value as text; ``is_set`` is false if it is the default."""

    name: str
    value: str
    is_set: bool
    meaning: str


class Changed(NamedTuple):
    """The settings that changed, by name."""

    names: Sequence[str]

    @property
    def sentence(self) -> str:
        """Which settings changed, without their values."""
        if not self.names:
            return "nothing changed: the settings of the readers' pages had these values already"
        what = counted(len(self.names), "setting")
        return f"{what} of the readers' pages changed: {listed(self.names)}"


def show(books: Books) -> PageSettings:
    """Return the settings; without a name, the pages have that of the account.

    Raises NotFound if there is no such account.
    """
    with books.read() as reading:
        batch = Batch(reading)
        settings, company = batch.add(stored.settings()), batch.add(accounts.company_name())
        batch.send()
        return _named(settings(), company())


class Pages(NamedTuple):
    """The readers' pages of a site. ``keeps_books``: Masthead keeps the books of the account."""

    account_id: int
    keeps_books: bool
    settings: PageSettings


def of_site(store: Store, site: str) -> Pages:
    """Return the readers' pages of a site by its name. Raises NotFound if no account has it."""
    with store.reader() as connection:
        account_id = stored.account_of_site(connection, site)
        if account_id is None:
            raise NotFound(f"there is no site {printable(site)}")
        connection.set_tenant(account_id)
        batch = Batch(connection, account_id=account_id)
        settings, company = batch.add(stored.settings()), batch.add(accounts.company_name())
        keeps_books = batch.add(is_here())
        batch.send()
        return Pages(account_id, keeps_books(), _named(settings(), company()))


def _named(settings: PageSettings, company: str | None) -> PageSettings:
    return settings if settings.name else replace(settings, name=company or settings.site)


def listing(books: Books) -> list[SettingShown]:
    """Return all settings in their order. Raises NotFound if there is no such account."""
    with books.read() as reading:
        was_set = stored_texts(reading, "page_settings")
    texts = texts_of(settings_from(was_set.items()))
    return [
        SettingShown(each.name, texts[each.name], each.name in was_set, each.meaning)
        for each in SETTINGS
    ]


def set_values(books: Books, values: Mapping[str, str], *, dry_run: bool = False) -> Changed:
    """Change settings, by name; "" gives one its default again.

    Raises BadInput for a name that no setting has, for a bad value, and for a site that another
    account has; NotFound if there is no such account.
    """
    texts = {name: stored_text(name, text) for name, text in values.items()}
    with books.change(dry_run=dry_run, in_any_mode=True) as change:
        before = stored_texts(change, "page_settings")
        changed = {name: text for name, text in texts.items() if before.get(name, "") != text}
        if site := changed.get("site"):
            change.direct.lock_accounts()
            if stored.account_of_site(change.direct, site) not in {None, books.account_id}:
                raise BadInput(
                    f"site: {site!r} is the site of another account of this database: choose "
                    "another name"
                )
        done = Changed(tuple(changed))
        if changed:
            save_texts(change, "page_settings", changed)
            change.say(done.sentence)
    return done
