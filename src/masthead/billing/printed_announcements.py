"""What the announcement of an automatic renewal prints (billing, "Automatic renewal").

The record is made when the renewal is announced, from what is stored then. All amounts are whole
cents, and all days are texts ``YYYY-MM-DD``.
"""

import msgspec

from masthead.billing.printed import Language, Payer, Seller


class PrintedAnnouncement(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Everything that an announcement prints.

    ``payer`` is the person who pays for the renewal, and to whom it goes. ``reader`` is the name of
    the person who gets the copies, '' for the payer. ``publication`` and ``bundle`` are names;
    ``issues`` is the number of issues of the bundle, -1 without an end, and ``copies`` how many of
    each. ``until`` is the day before the first issue that does not come without the renewal.
    ``renews_on`` is the day on which the order is made, and ``stop_until`` the last day to stop it.
    ``net`` and ``tax`` are for all copies, with shipping. ``consent_on`` is the day of the consent,
    and ``consent`` its words. ``mandate`` and ``iban_end`` are the reference of the mandate and
    the last four characters of its IBAN, '' if the renewal is not collected. ``renewal_code``
    identifies the reader in an answer.
    """

    subscription_id: int
    announced_on: str
    seller: Seller
    payer: Payer
    reader: str = ""
    language: Language
    currency: str
    prices_with_tax: bool = True
    publication: str
    bundle: str
    issues: int
    copies: int = 1
    until: str | None = None
    renews_on: str
    stop_until: str
    net: int
    tax: int
    consent_on: str
    consent: str = ""
    renewal_code: str = ""
    mandate: str = ""
    iban_end: str = ""

    @property
    def total(self) -> int:
        """What the renewal costs, with tax and shipping."""
        return self.net + self.tax
