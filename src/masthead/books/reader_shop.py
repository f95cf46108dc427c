"""The signed link by which a reader pays an order at the publisher's shop.

The link has the number of the order or of its invoice, and what is open. Its signature is the
HMAC-SHA256 of the query without it, as it stands in the link, with the shop's key.
"""

import hmac
from urllib.parse import urlencode, urlsplit

from masthead.books.account import Books
from masthead.circulation.amounts import decimal
from masthead.store import Store


def key_of(store: Store, account_id: int) -> str:
    """Return the key with which links to an account's shop are signed: 64 hexadecimal digits."""
    return store.secret.key_for(f"shop of account {account_id}").hex()


def link(books: Books, shop_url: str, order_id: int, number: str, cents: int, currency: str) -> str:
    """Return the link by which ``cents`` of an order are paid at the shop.

    ``number`` is what the shop's file of payments names: the number of the invoice, or else that of
    the order.
    """
    query = urlencode(
        {"order": order_id, "number": number, "amount": decimal(cents), "currency": currency}
    )
    key = bytes.fromhex(key_of(books.store, books.account_id))
    signature = hmac.digest(key, query.encode(), "sha256").hex()
    glue = "&" if urlsplit(shop_url).query else "?"
    return f"{shop_url}{glue}{query}&signature={signature}"
