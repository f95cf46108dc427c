"""A seller whose settings are enough for invoices."""

from __future__ import annotations

SELLER = {
    "seller_name": "Verlag Muster",
    "seller_street": "Hauptstr. 1",
    "seller_city": "Berlin",
    "seller_postal_code": "10115",
    "seller_country": "DE",
    "seller_vat_id": "DE136695976",
}
