"""The cards for the gifts of an order (readers' pages, "Gifts").

A card has only what the payer gave: the name of the reader, and a message.
"""

from typing import NamedTuple, get_args

import msgspec

from masthead.billing.printed import Language
from masthead.billing.printed_letters import PrintedGiftCard
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of
from masthead.books.invoicing import seller_of
from masthead.contract.printable import printable
from masthead.documents.prepared import Prepared
from masthead.documents.rendering import Appearance
from masthead.errors import NotFound
from masthead.store.billing.publisher_name import publisher_name
from masthead.store.billing.settings import settings_of
from masthead.store.books import reader_changes, reader_home
from masthead.store.page_settings import settings_of as page_settings_of


class Cards(NamedTuple):
    """The cards for the gifts of an order, and how they look."""

    cards: list[PrintedGiftCard]
    appearance: Appearance


def cards_of(
    books: Books,
    subscriber_id: int,
    order_id: int,
    *,
    begins_on: str | None = None,
    message: str = "",
    language: str = "",
) -> Cards:
    """Return the cards for the gifts of an order that a reader paid for, one for each gift.

    Without ``begins_on`` and ``message``, they are those that the payer gave with the order. The
    name and the look are those of the readers' pages. Raises NotFound if the order is not the
    reader's, or has no gift that was not taken back.
    """
    with books.read() as reading:
        payer = reader_home.reader_of(reading, subscriber_id)
        gifts = [
            each
            for each in reading.ask(
                reader_home.gifts(subscriber_id, is_asking=reading.direct.reader_id is not None)
            )
            if each.order_id == order_id and each.refund_date is None
        ]
        if not gifts:
            raise NotFound(f"order {order_id} is not an order of yours with a gift")
        noted = next(
            (
                each.after
                for each in reader_changes.orders_of(reading, subscriber_id)
                if each.after and each.after["order_id"] == order_id
            ),
            {},
        )
        settings, pages = settings_of(reading), page_settings_of(reading)
        seller = msgspec.structs.replace(
            seller_of(settings), name=publisher_name(reading), email=pages.contact
        )
        languages: tuple[Language, ...] = get_args(Language)
        wanted = [language, *pages.languages]
        cards = [
            PrintedGiftCard(
                written_on=reading.today,
                language=next(
                    (each for want in wanted for each in languages if each == want), "en"
                ),
                seller=seller,
                reader=printable(" ".join(filter(None, (each.first_name, each.last_name)))),
                payer=printable(" ".join(filter(None, (payer.first_name, payer.last_name)))),
                bundle=printable(each.bundle or ""),
                begins_on=begins_on or noted.get("begins") or None,
                message=message or noted.get("message", ""),
            )
            for each in gifts
        ]
    appearance = appearance_of(settings)
    return Cards(cards, appearance._replace(colour=pages.colour, logo=_logo(pages.logo_picture)))


def prepared(books: Books, subscriber_id: int, order_id: int, language: str) -> Prepared:
    """Return the card for the gift of an order, of which a PDF can be made.

    Of several gifts, it is that of the first. Raises NotFound as :func:`cards_of`.
    """
    found = cards_of(books, subscriber_id, order_id, language=language)
    return Prepared(found.cards[0], found.appearance)


def _logo(picture: tuple[str, bytes] | None) -> tuple[str, bytes] | None:
    """Return a logo as documents have it: the ending of its file, and its bytes."""
    if picture is None:
        return None
    kind, content = picture
    return kind.removeprefix("image/").removesuffix("+xml"), content
