"""The settings of the readers' pages, and the account that a site belongs to.

The functions leave the queued rows of an operation queued (readers' pages, "Settings").
"""

from collections.abc import Mapping

from masthead.circulation.page_settings import PageSettings, settings_from
from masthead.store.books.operation import Operation, Reading
from masthead.store.database import Connection


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


def stored_settings(reading: Reading) -> dict[str, str]:
    """Return the texts of the settings that were set, by name."""
    found = reading.direct.rows_as(
        tuple[str, str],
        """
        SELECT name, value FROM page_settings
        WHERE account_id = :account_id AND value IS NOT NULL ORDER BY setting_id
        """,
        account_id=reading.account_id,
    )
    return dict(found)


def settings_of(reading: Reading) -> PageSettings:
    """Return the account's settings; those that were not set have their defaults."""
    return settings_from(stored_settings(reading).items())


def save_settings(change: Operation, texts: Mapping[str, str]) -> None:
    """Store texts of settings by name; "" removes one, so that it has its default again."""
    stored = stored_settings(change)
    for name, text in texts.items():
        if not text:
            sql = "DELETE FROM page_settings WHERE account_id = :account_id AND name = :name"
            change.change(sql, name=name)
        elif name in stored:
            change.change(
                """
                UPDATE page_settings SET value = :value
                WHERE account_id = :account_id AND name = :name
                """,
                name=name,
                value=text,
            )
        else:
            setting_id = change.new_id("page_settings")
            change.add("page_settings", setting_id=setting_id, name=name, value=text)
    change.write()
