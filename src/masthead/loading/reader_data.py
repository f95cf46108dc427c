"""All that is held of a reader, as a file for the reader (readers' pages, "My data")."""

import msgspec

from masthead.books import Books
from masthead.books.reader_acts import check_offered
from masthead.contract.encoding import encode
from masthead.loading.subscriber_data import record_of
from masthead.store.subscriber_data import data_of


def everything(books: Books, subscriber_id: int) -> str:
    """Return all data of a reader as indented JSON, from one snapshot.

    Raises NotFound if there is no such reader, and if the reader was deleted. Raises BadInput if
    the publisher does not give it out on the pages.
    """
    with books.snapshot() as inside, inside.read() as reading:
        check_offered(inside, subscriber_id, "my_data")
        data = data_of(reading.connection, books.account_id, subscriber_id)
    return msgspec.json.format(encode(record_of(data)), indent=2).decode()
