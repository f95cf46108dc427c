"""The name by which readers know a publisher."""

from masthead.store import accounts, page_settings
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading


def publisher_name(reading: Reading) -> str:
    """Return the publisher's name as readers see it.

    It is that of the readers' pages, of the seller, or of the account, whichever is set first.
    """
    account = accounts.settings_of(reading.direct, reading.account_id)
    return (
        page_settings.settings_of(reading).name
        or str(account["company_name"] or "")
        or settings_of(reading).seller_name
    )
