"""The settings of the readers' pages, and the account that a site belongs to.

The functions leave the queued rows of an operation queued (readers' pages, "Settings").
"""

from masthead.circulation.page_settings import PageSettings, settings_from
from masthead.databases.queries import Query
from masthead.store.books.operation import Reading
from masthead.store.database import Connection
from masthead.store.setting_texts import stored_texts, texts_in


def account_of_site(connection: Connection, site: str) -> int | None:
    """Return the account that has a site, by the site's name; None if there is none.

    If a load has brought the same name to several accounts, it is that of the lowest number.
    """
    if connection.dialect == "postgresql":
        return connection.value_as(int, "SELECT account_of_site(:site)", site=site)
    return connection.value_as(
        int,
        "SELECT min(account_id) FROM page_settings WHERE name = 'site' AND value = :site",
        site=site,
    )


def sites(connection: Connection) -> list[str]:
    """Return the names of all sites of the database, sorted."""
    if connection.dialect == "postgresql":
        return connection.column_as(str, "SELECT site FROM sites() ORDER BY site")
    return connection.column_as(
        str,
        """
        SELECT DISTINCT value FROM page_settings WHERE name = 'site' AND value IS NOT NULL
        ORDER BY value
        """,
    )


def settings_of(reading: Reading) -> PageSettings:
    """Return the account's settings; those that were not set have their defaults."""
    return settings_from(stored_texts(reading, "page_settings").items())


def settings() -> Query[PageSettings]:
    """Return the query of :func:`settings_of`."""
    return texts_in("page_settings").then(lambda texts: settings_from(texts.items()))
