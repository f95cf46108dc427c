"""What letters, labels and cover sheets print, as typed records (billing, "Documents").

All amounts are whole cents, and all days are texts ``YYYY-MM-DD``. Records are made from what is
stored when the letters are written.
"""

from masthead.billing.printed import Language, Payer, Record, Seller


class _Letter(Record, frozen=True, kw_only=True):
    """What each letter has: who writes it to whom, on which day, about which subscription.

    ``recipient`` is the person to whom it goes. ``reader`` is the name of the person who gets the
    copies, '' if that is the recipient. ``copies`` is how many there are of each issue.
    """

    written_on: str
    language: Language
    currency: str
    seller: Seller
    recipient: Payer
    subscription_id: int
    reader: str = ""
    publication: str
    copies: int = 1


class PrintedWelcome(_Letter, frozen=True, kw_only=True):
    """A letter that welcomes a reader.

    ``type`` is Print, Digital or Both. ``issues`` is how many issues were ordered, -1 without an
    end, 0 if that is not known. ``first_issue`` is the name of the first issue, ``first_on`` its
    date, and ``until`` the day before the first issue that does not come any more. ``payer`` is
    the name of the person who pays, '' for the reader. ``renewal_code`` identifies the reader.
    """

    type: str = "Print"
    issues: int = 0
    first_issue: str = ""
    first_on: str | None = None
    until: str | None = None
    payer: str = ""
    renewal_code: str = ""


class PrintedCancellation(_Letter, frozen=True, kw_only=True):
    """A letter that confirms that a subscription was cancelled.

    ``cancelled_on`` is the day on which it was asked for, and ``reason`` the publisher's word for
    why. ``ended_on`` is the day on which it ended, None if it goes on; then ``last_issue`` is the
    name of the last issue, ``last_on`` its date, or ``issues_left`` is how many are still to come
    and ``until`` the day before the first issue that does not come any more.
    ``refunded`` is what is paid back, with tax, and ``credit_notes`` the numbers of the credit
    notes. ``is_refund`` says that what is left at the end will be paid back.
    """

    cancelled_on: str
    reason: str = ""
    ended_on: str | None = None
    last_issue: str = ""
    last_on: str | None = None
    issues_left: int = 0
    until: str | None = None
    is_refund: bool = False
    refunded: int = 0
    credit_notes: tuple[str, ...] = ()


class PrintedRenewal(_Letter, frozen=True, kw_only=True):
    """A renewal letter: a bundle to order, and a slip on which the reader answers.

    ``effort`` is its number, such as 2 for the second letter. ``issues_left`` is negative after
    the last issue; ``expires_on`` is the day before the first issue that does not come any more.
    ``bundle`` is the name of the bundle, '' if the letter names none; ``net`` and ``tax`` are its
    price. ``key_code`` is that of the effort, which an answer names.
    """

    effort: int
    issues_left: int
    expires_on: str | None = None
    is_gift: bool = False
    renewal_code: str = ""
    bundle: str = ""
    net: int = 0
    tax: int = 0
    key_code: str = ""

    @property
    def total(self) -> int:
        """The price with tax."""
        return self.net + self.tax


class AskedQuestion(Record, frozen=True, kw_only=True):
    """A question of a form, as a letter asks it; without ``options`` it is answered in words.

    ``is_several``: several options can be chosen. ``has_other``: another answer is allowed.
    """

    words: str
    options: tuple[str, ...] = ()
    is_several: bool = False
    has_other: bool = False


class PrintedRequalification(_Letter, frozen=True, kw_only=True):
    """A letter that asks a reader of a free title to qualify again, with its questionnaire.

    ``valid_until`` is the last day of the reader's qualification. ``page`` is the address of the
    readers' pages, '' if there are none, on which ``renewal_code`` and ``postal_code`` sign in.
    ``agreed_text`` is what the reader agrees to with the signature.
    """

    effort: int
    valid_until: str
    renewal_code: str = ""
    postal_code: str = ""
    page: str = ""
    agreed_text: str = ""
    questions: tuple[AskedQuestion, ...] = ()


class Label(Record, frozen=True, kw_only=True):
    """A label: the address, the keyline above it, and how many copies are in the wrapper."""

    address: Payer
    keyline: str = ""
    copies: int = 1


class PrintedLabels(Record, frozen=True, kw_only=True):
    """Labels on sheets of a common form (``documents.label_sheets``).

    ``skip`` is how many labels of the first sheet were used before. ``home`` is the code of the
    country that no label names.
    """

    sheet: str
    written_on: str
    language: Language
    home: str
    publisher: str
    skip: int = 0
    labels: tuple[Label, ...]


class PrintedCover(Record, frozen=True, kw_only=True):
    """The sheet on a bundle of copies: where they go, and how many there are.

    ``country`` is a code, and ``country_name`` what the addresses say. ``first_code`` and
    ``last_code`` are the first and the last postal code. ``number`` counts from 1 to ``bundles``.
    ``pieces`` are addresses, each with one copy or more.
    """

    written_on: str
    language: Language
    seller: Seller
    publication: str
    issue: str
    issue_on: str | None = None
    number: int
    bundles: int
    country: str = ""
    country_name: str = ""
    first_code: str = ""
    last_code: str = ""
    pieces: int
    copies: int


class PrintedGiftCard(Record, frozen=True, kw_only=True):
    """The card for a gift: ``payer`` gives ``bundle`` to ``reader``, with a ``message``."""

    written_on: str
    language: Language
    seller: Seller
    reader: str = ""
    payer: str = ""
    bundle: str
    begins_on: str | None = None
    message: str = ""
