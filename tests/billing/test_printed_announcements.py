"""The record of what an announcement prints, and its JSON (billing, "Automatic renewal")."""

from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.printed import Payer, Seller
from masthead.billing.printed_announcements import PrintedAnnouncement

_TEXTS = st.text(max_size=20)
_AMOUNTS = st.integers(0, 10**9)
_ANNOUNCEMENTS = st.builds(
    PrintedAnnouncement,
    subscription_id=st.integers(1, 10**9),
    announced_on=st.dates().map(str),
    seller=st.builds(Seller, name=_TEXTS),
    payer=st.builds(Payer, subscriber_id=st.integers(1, 10**9), name=_TEXTS),
    reader=_TEXTS,
    language=st.sampled_from(["en", "de"]),
    currency=st.sampled_from(["EUR", "USD"]),
    publication=_TEXTS,
    bundle=_TEXTS,
    issues=st.integers(-1, 500),
    until=st.none() | st.dates().map(str),
    renews_on=st.dates().map(str),
    stop_until=st.dates().map(str),
    net=_AMOUNTS,
    tax=_AMOUNTS,
    consent_on=st.dates().map(str),
    consent=_TEXTS,
)


@given(_ANNOUNCEMENTS)
def test_the_total_is_the_net_amount_and_the_tax(printed: PrintedAnnouncement) -> None:
    assert printed.total - printed.tax == printed.net
