"""The settings of an account's billing, and whether it bills (billing, "What is stored").

The functions leave the queued rows of an operation queued.
"""

from collections.abc import Mapping

from masthead.billing.settings import BillingSettings, settings_from
from masthead.store.books.operation import Operation, Reading

_SETTINGS = "billing settings"


def begun_on(reading: Reading) -> str | None:
    """Return the day on which the account began billing; None if it does not bill."""
    if isinstance(reading, Operation):
        return reading.billing_begun_on
    return reading.direct.value_as(
        str,
        "SELECT begun_on FROM billing WHERE account_id = :account_id",
        account_id=reading.account_id,
    )


def is_billing(reading: Reading) -> bool:
    """Return whether the account makes invoices. In an operation, this needs no statement."""
    return begun_on(reading) is not None


def stored_settings(reading: Reading) -> dict[str, str]:
    """Return the texts of the settings that were set, by name."""
    found = reading.direct.rows_as(
        tuple[str, str],
        """
        SELECT name, value FROM billing_settings
        WHERE account_id = :account_id AND value IS NOT NULL ORDER BY setting_id
        """,
        account_id=reading.account_id,
    )
    return dict(found)


def settings_of(reading: Reading) -> BillingSettings:
    """Return the account's settings; those that were not set have their defaults."""
    if not isinstance(reading, Operation):
        return settings_from(stored_settings(reading).items())
    memory = reading.memory(_SETTINGS)
    if not memory:
        memory[_SETTINGS] = settings_from(stored_settings(reading).items())
    found: BillingSettings = memory[_SETTINGS]
    return found


def save_settings(change: Operation, texts: Mapping[str, str]) -> None:
    """Store texts of settings by name; "" removes one, so that it has its default again."""
    stored = stored_settings(change)
    for name, text in texts.items():
        if not text:
            sql = "DELETE FROM billing_settings WHERE account_id = :account_id AND name = :name"
            change.change(sql, name=name)
        elif name in stored:
            change.change(
                """
                UPDATE billing_settings SET value = :value
                WHERE account_id = :account_id AND name = :name
                """,
                name=name,
                value=text,
            )
        else:
            setting_id = change.new_id("billing_settings")
            change.add("billing_settings", setting_id=setting_id, name=name, value=text)
    change.write()


def begin(change: Operation) -> None:
    """Note that the account bills from today on."""
    change.add("billing", billing_id=1, begun_on=change.today)
    change.billing_begun_on = change.today
