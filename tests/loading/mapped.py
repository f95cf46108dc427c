"""Loads files by a mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.loading.limits import Limit
from masthead.loading.load import Loaded, Options, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.loading.publisher import Publisher

FLAT = (
    "Kundennummer;E-Mail;Vorname;Strasse;Titel;Art;Preis;Seit;Bemerkung\n"
    "K-1;ada@example.org;Ada;Hafenweg 1;Tide;P;49,90;31.12.2024;x\n"
    "K-1;ada@example.org;Ada;Hafenweg 1;Harbour;D;1.049,90;01.01.2025;\n"
    "K-2;ben@example.org;Ben;;Tide;B;;02.01.2025;\n"
)
FLAT_MAPPING = """
[[files]]
name = "Abonnenten*"
separator = ";"
dates = "DD.MM.YYYY"
decimal = ","
ignore = ["Bemerkung"]

[files.tables.publications]
publication_id = { key = ["Titel"] }
name = "Titel"

[files.tables.subscribers]
subscriber_id = { key = ["Kundennummer"] }
email = "E-Mail"
first_name = "Vorname"
source = { constant = "billing" }

[files.tables.addresses]
address_id = { key = ["Kundennummer"], when = ["Strasse"] }
subscriber_id = { key = ["Kundennummer"] }
address = "Strasse"

[files.tables.subscriptions]
subscription_id = { key = ["Kundennummer", "Titel"] }
subscriber_id = { key = ["Kundennummer"], of = "subscribers" }
publication_id = { key = ["Titel"] }
mailing_address_id = { key = ["Kundennummer"], when = ["Strasse"] }
type = { column = "Art", values = { P = "Print", D = "Digital", B = "Both" } }
unearned_revenue = "Preis"
date_created = "Seit"
"""
"""One row of the usual export feeds four tables."""


def load_mapped(
    publisher: Publisher,
    files: Mapping[str, str | bytes],
    mapping: str,
    *,
    reject: Path | None = None,
    complete: bool = False,
) -> Loaded:
    """Load the files by the mapping, which stands beside them in a folder.

    Complete files may remove any number of rows.
    """
    folder = publisher.write({**files, "publisher.toml": mapping})
    return load(
        publisher.store,
        [folder],
        account_id=publisher.account_id,
        options=Options(
            reject,
            max_removed=Limit.parse("100%") if complete else None,
            mapping=folder / "publisher.toml",
        ),
    )


def refusal(
    publisher: Publisher,
    files: Mapping[str, str | bytes],
    mapping: str,
    *,
    complete: bool = False,
) -> list[str]:
    """Load files that must be refused, and must leave nothing; return the lines of the refusal."""
    before = publisher.everything(), natural_keys(publisher)
    with pytest.raises(BadInput) as refused:
        load_mapped(publisher, files, mapping, complete=complete)
    assert (publisher.everything(), natural_keys(publisher)) == before
    return [line for line in str(refused.value).splitlines() if "nothing was loaded" not in line]


def natural_keys(publisher: Publisher) -> list[tuple[str, str, int]]:
    """Return what the database has of an account's natural keys."""
    with publisher.store.writer() as database:
        return database.rows(
            """
            SELECT table_name, key_digest, record_id FROM natural_keys
            WHERE account_id = :account_id AND key_digest <> '' ORDER BY table_name, record_id
            """,
            account_id=publisher.account_id,
        )
