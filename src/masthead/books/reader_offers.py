"""What the readers' pages of an account have."""

from collections.abc import Callable

from masthead.circulation.page_settings import PageSettings
from masthead.circulation.reader_pages import NOTHING, Offered
from masthead.databases.queries import Batch
from masthead.store import page_settings
from masthead.store.books.operation import Reading, is_here


def offered_by(reading: Reading) -> Offered:
    """Return what the readers' pages of an account have."""
    batch = Batch(reading)
    found = ask_offered(batch)
    batch.send()
    return found()


def ask_offered(batch: Batch) -> Callable[[], Offered]:
    """Add what :func:`offered_by` reads to a batch; return the function that answers after it."""
    here, settings = batch.add(is_here()), batch.add(page_settings.settings())
    return lambda: _offered(settings()) if here() else NOTHING


def _offered(settings: PageSettings) -> Offered:
    return Offered(**{name: getattr(settings, name) for name in Offered._fields})
