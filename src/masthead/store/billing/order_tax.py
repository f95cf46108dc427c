"""The tax and the shipping of an order, by the rates and prices of its account (billing, "Tax").

The functions run in an operation, for an order whose people are known. For an account that does not
bill, nothing is looked up, and nothing changes.
"""

from collections.abc import Sequence

from masthead.billing.identifiers import vat_country
from masthead.billing.places import Place, country_of
from masthead.billing.tax import (
    LineShare,
    Taxing,
    TaxPart,
    bundle_parts,
    fixed_part,
    goods_of,
    shipping_parts,
)
from masthead.store.billing.rates import rates_of, shipping_of, vat_id_of
from masthead.store.billing.settings import is_billing, settings_of
from masthead.store.books.item_pricing import PricedItem
from masthead.store.books.operation import Reading
from masthead.store.books.order_people import Resolved
from masthead.store.books.reader_lookup import addresses_of


def taxed(
    change: Reading,
    payer: Resolved,
    priced_items: Sequence[PricedItem],
    recipients: Sequence[Resolved],
) -> tuple[list[PricedItem], tuple[TaxPart, ...]]:
    """Return the items with the tax of their readers' countries, and the parts of the shipping.

    The items of an account that does not bill stay as they are. An item that has a price or a tax
    of its own has no shipping: they are what was agreed. Its tax stands; a price without a tax is
    taxed by the rates. An item that costs nothing has no shipping either.
    """
    if not is_billing(change):
        return list(priced_items), ()
    settings = settings_of(change)
    taxing = Taxing(
        rates_of(change),
        change.today,
        settings.prices_with_tax,
        settings.seller_country,
        vat_country(vat_id_of(change, payer.subscriber_id) or ""),
    )
    prices = shipping_of(change)
    items, costs = [], []
    for priced, recipient in zip(priced_items, recipients, strict=True):
        place = _place(change, recipient, payer, settings.seller_country)
        items.append(_item(taxing, place, priced))
        is_listed = (priced.item.price, priced.item.tax) == (None, None)
        if is_listed and priced.net + priced.tax:
            costs += [
                (place, line.copies * prices.cents(place, line.type, change.today))
                for line in priced.lines
            ]
    return items, shipping_parts(taxing, costs)


def _item(taxing: Taxing, place: Place | None, priced: PricedItem) -> PricedItem:
    """Return an item with its parts, and with the net prices of its lines that follow."""
    item = priced.item
    if item.tax is not None:
        goods = goods_of(line.type for line in priced.lines) if priced.lines else "product"
        return priced._replace(parts=(fixed_part(goods, priced.net, priced.tax),))
    is_net_fixed = item.price is not None
    parts: tuple[TaxPart, ...]
    if priced.lines:
        shares = [LineShare(line.type, line.price, line.digital_share) for line in priced.lines]
        parts = bundle_parts(
            taxing, place, priced.net, priced.tax, shares, is_net_fixed=is_net_fixed
        )
    else:
        amounts = priced.net, priced.tax
        parts = (taxing.part("product", place, *amounts, is_net_fixed=is_net_fixed),)
    return priced._replace(
        net=sum(part.net for part in parts),
        tax=sum(part.tax for part in parts),
        lines=[
            line._replace(price=sum(part.net for part in parts if part.line == number))
            for number, line in enumerate(priced.lines)
        ],
        parts=parts,
    )


def _place(
    change: Reading, recipient: Resolved, payer: Resolved, seller_country: str
) -> Place | None:
    """Return where an item goes; None if the words of the address name no country.

    It is the reader's address, or else the payer's; without a country, it is the seller's.
    """
    for person in (recipient, payer):
        of_person = addresses_of(change, [person.subscriber_id])[person.subscriber_id]
        address = of_person.get(person.address_id or 0)
        if address is not None:
            code = country_of(address.get("country_abbreviation"), address.get("country_name"))
            state = " ".join(address.get("state", "").split()).upper()
            return None if code is None else Place(code or seller_country, state)
    return Place(seller_country)
