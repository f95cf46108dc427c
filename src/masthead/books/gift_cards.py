"""The card for a gift as PDF, which its payer prints (docs/documents.md)."""

from masthead.billing.printed import Language
from masthead.billing.printed_letters import PrintedGiftCard
from masthead.billing.settings import lacking_for_letters
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.books.reader_acts import not_yours
from masthead.circulation.reader_rules import refused
from masthead.documents.rendering import Renderer
from masthead.store.billing.settings import settings_of
from masthead.store.books import reader_home


def card(books: Books, subscriber_id: int, order_id: int, language: Language) -> bytes:
    """Return the card for a gift that a reader gave, with the names of both.

    Raises NotFound for an order that is no gift of the reader. Raises BadInput with a code of
    ``circulation.reader_rules.REFUSALS`` if the publisher's letterhead is not set.
    """
    with books.read() as reading:
        payer = reader_home.reader_of(reading, subscriber_id)
        gifts = reader_home.gifts_of(reading, subscriber_id)
        gift = next((each for each in gifts if each.order_id == order_id), None)
        if gift is None:
            raise not_yours()
        settings = settings_of(reading)
        if lacking_for_letters(settings):
            raise refused("write_to_us")
        printed = PrintedGiftCard(
            written_on=reading.today,
            language=language,
            seller=sender_of(settings),
            reader=_name(gift.first_name, gift.last_name) or gift.company or "",
            payer=_name(payer.first_name, payer.last_name),
            bundle=gift.bundle or "",
        )
    with Renderer(appearance_of(settings)) as renderer:
        return renderer.pdf(printed)


def _name(first: str | None, last: str | None) -> str:
    return f"{first or ''} {last or ''}".strip()
