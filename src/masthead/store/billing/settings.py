"""The settings of an account's billing, and whether it bills (billing, "What is stored").

The functions leave the queued rows of an operation queued.
"""

from masthead.billing.settings import BillingSettings, settings_from
from masthead.databases.queries import Query
from masthead.store.books.operation import Operation, Reading
from masthead.store.setting_texts import stored_texts, texts_in

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


def settings_of(reading: Reading) -> BillingSettings:
    """Return the account's settings; those that were not set have their defaults."""
    if not isinstance(reading, Operation):
        return settings_from(stored_texts(reading, "billing_settings").items())
    memory = reading.memory(_SETTINGS)
    if not memory:
        memory[_SETTINGS] = settings_from(stored_texts(reading, "billing_settings").items())
    found: BillingSettings = memory[_SETTINGS]
    return found


def settings() -> Query[BillingSettings]:
    """Return the query of the account's settings, for a batch."""
    return texts_in("billing_settings").then(lambda texts: settings_from(texts.items()))


def begin(change: Operation) -> None:
    """Note that the account bills from today on."""
    change.add("billing", billing_id=1, begun_on=change.today)
    change.billing_begun_on = change.today
