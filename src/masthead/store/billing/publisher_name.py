"""The name by which readers know a publisher."""

from masthead.store import accounts, page_settings
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading


def publisher_name(reading: Reading) -> str:
    """Return the publisher's name as readers see it.

    It is that of the readers' pages, of the seller, or of the account, whichever is set first.
    """
    return (
        page_settings.settings_of(reading).name
        or accounts.company_name_of(reading.direct, reading.account_id)
        or settings_of(reading).seller_name
    )
