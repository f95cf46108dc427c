"""Tax rates, shipping prices, and the VAT numbers of payers (billing, "Tax").

The functions that an order calls leave queued rows queued, and look everything up once for many
orders.
"""

from typing import Any, NamedTuple, cast

from masthead.billing.printed import Goods
from masthead.billing.tax import Rates, ShippingPrice, ShippingPrices, TaxRate
from masthead.store.books.operation import Operation, Reading

_MEMORY = "billing rates"
_VAT_IDS = "VAT numbers"


class StoredRate(NamedTuple):
    """A tax rate with its id; ``state`` is None for all states without a rate of their own."""

    rate_id: int
    country: str
    state: str | None
    goods: Goods
    percent: int
    begins_on: str

    @property
    def rate(self) -> TaxRate:
        """The rate without its id."""
        return TaxRate(*self[1:])


class StoredShippingPrice(NamedTuple):
    """A shipping price with its id; ``country`` is None for all without a price of their own."""

    shipping_price_id: int
    country: str | None
    type: str
    cents: int
    begins_on: str

    @property
    def price(self) -> ShippingPrice:
        """The price without its id."""
        return ShippingPrice(*self[1:])


def stored_rates(reading: Reading) -> list[StoredRate]:
    """Return the tax rates by country, state, goods and day."""
    found = reading.direct.rows_as(
        StoredRate,
        """
        SELECT rate_id, country, state, goods, percent, begins_on FROM tax_rates
        WHERE account_id = :account_id
        """,
        account_id=reading.account_id,
    )
    return sorted(found, key=lambda rate: (rate.country, rate.state or "", rate.goods, rate[5]))


def stored_shipping_prices(reading: Reading) -> list[StoredShippingPrice]:
    """Return the shipping prices by type, country and day; those of all other countries last."""
    found = reading.direct.rows_as(
        StoredShippingPrice,
        """
        SELECT shipping_price_id, country, type, cents, begins_on FROM shipping_prices
        WHERE account_id = :account_id
        """,
        account_id=reading.account_id,
    )
    return sorted(
        found, key=lambda each: (each.type, each.country is None, each.country or "", each[4])
    )


def add_rate(change: Operation, rate: TaxRate) -> int:
    """Add a tax rate; return its id."""
    rate_id = change.new_id("tax_rates")
    change.add("tax_rates", rate_id=rate_id, **rate._asdict())
    change.write()
    return rate_id


def add_shipping_price(change: Operation, price: ShippingPrice) -> int:
    """Add a shipping price; return its id."""
    price_id = change.new_id("shipping_prices")
    change.add("shipping_prices", shipping_price_id=price_id, **price._asdict())
    change.write()
    return price_id


def remove(change: Operation, table: str, key: int) -> None:
    """Remove a row of ``tax_rates`` or ``shipping_prices``."""
    name = "rate_id" if table == "tax_rates" else "shipping_price_id"
    change.change(f"DELETE FROM {table} WHERE account_id = :account_id AND {name} = :key", key=key)


def rates_of(change: Reading) -> Rates:
    """Return the tax rates of the account."""
    return cast("Rates", _remembered(change)["rates"])


def shipping_of(change: Reading) -> ShippingPrices:
    """Return the shipping prices of the account."""
    return cast("ShippingPrices", _remembered(change)["shipping"])


def _remembered(change: Reading) -> dict[str, Any]:
    memory = change.memory(_MEMORY)
    if not memory:
        memory["rates"] = Rates(each.rate for each in stored_rates(change))
        memory["shipping"] = ShippingPrices(each.price for each in stored_shipping_prices(change))
    return memory


def vat_id_of(reading: Reading, subscriber_id: int) -> str | None:
    """Return the VAT number of a payer; None if there is none."""
    if not isinstance(reading, Operation):
        return _vat_id(reading, subscriber_id)
    memory = reading.memory(_VAT_IDS)
    if subscriber_id not in memory:
        memory[subscriber_id] = _vat_id(reading, subscriber_id)
    found: str | None = memory[subscriber_id]
    return found


def _vat_id(reading: Reading, subscriber_id: int) -> str | None:
    return reading.direct.value_as(
        str,
        """
        SELECT vat_id FROM payer_details
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            AND vat_id IS NOT NULL
        """,
        account_id=reading.account_id,
        subscriber_id=subscriber_id,
    )


def set_vat_id(change: Operation, subscriber_id: int, vat_id: str | None) -> None:
    """Set the VAT number of a payer, or remove it."""
    changed = change.change(
        """
        UPDATE payer_details SET vat_id = :vat_id
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
        vat_id=vat_id,
    )
    if not changed and vat_id is not None:
        change.add("payer_details", subscriber_id=subscriber_id, vat_id=vat_id)
