"""What the readers' pages of an account have, and what a reader may do with a subscription now."""

from typing import NamedTuple

from masthead.circulation.page_settings import Cancelling
from masthead.circulation.reader_rules import Standing, state_of
from masthead.contract.subscription_types import UNLIMITED


class Offered(NamedTuple):
    """What the pages of an account have; what is False is not there, and is refused.

    The names are those of the page settings. Where the books are kept elsewhere, nothing that
    changes them is offered. ``pause_days`` and ``missing_copies`` are those of a calendar year,
    ``pause_notice`` the days before a pause, ``missing_copy_days`` those after an issue.
    """

    address: bool = True
    temporary_address: bool = True
    pause: bool = True
    renew: bool = True
    buy: bool = True
    gift: bool = True
    automatic_renewal: bool = True
    cancel: Cancelling = "at_end"
    questionnaire: bool = True
    my_data: bool = True
    erasure: bool = True
    missing_copy: bool = True
    documents: bool = True
    pause_days: int = 60
    pause_notice: int = 3
    missing_copies: int = 2
    missing_copy_days: int = 60

    def where_sold(self, *, buy: bool, gift: bool) -> "Offered":
        """Return it without buying or giving if no bundle is shown for that."""
        return self._replace(buy=self.buy and buy, gift=self.gift and gift)


NOTHING = Offered(
    *(False,) * 7,
    cancel="no",
    questionnaire=False,
    my_data=True,
    erasure=False,
    missing_copy=False,
    documents=False,
)
"""What is offered where the books are kept elsewhere: the reader looks, and reads own data."""


class May(NamedTuple):
    """What a reader may do with one subscription now, by the names of the pages.

    ``cancel`` is ``no`` if it cannot be cancelled. ``resume`` ends a pause, ``uncancel`` takes a
    cancellation back. ``renew_on`` and ``renew_off`` are those of automatic renewal. ``qualify``
    answers the questions of a free title again.
    """

    address: bool = False
    temporary_address: bool = False
    pause: bool = False
    resume: bool = False
    cancel: Cancelling = "no"
    uncancel: bool = False
    renew: bool = False
    renew_on: bool = False
    renew_off: bool = False
    missing_copy: bool = False
    qualify: bool = False


def may(
    offered: Offered,
    standing: Standing,
    today: str,
    *,
    has_issues: bool = False,
    has_bundles: bool = True,
) -> May:
    """Return what a reader may do with a subscription today.

    ``has_issues``: it received issues that can still be missing. ``has_bundles``: readers see
    bundles by which it can be renewed; one that is over cannot. A gift that somebody else pays for
    is not cancelled here, since the money is the payer's, and does not renew automatically.
    """
    state = state_of(standing, today)
    runs = state != "ended"
    goes_on = runs and not standing.is_cancelled
    has_end = standing.issues != UNLIMITED
    pause = next((each for each in standing.pauses if (each.last or today) >= today), None)
    return May(
        address=offered.address and runs,
        temporary_address=offered.temporary_address and runs,
        pause=offered.pause and goes_on and has_end,
        resume=offered.pause and runs and pause is not None and pause.last is not None,
        cancel=offered.cancel if goes_on and standing.is_own else "no",
        uncancel=(
            offered.cancel != "no"
            and standing.is_own
            and standing.is_cancelled
            and not standing.is_final
        ),
        renew=(
            offered.renew
            and has_bundles
            and not (standing.is_cancelled or standing.is_over)
            and (has_end or standing.of_terms > 0)
        ),
        renew_on=(
            offered.automatic_renewal
            and has_bundles
            and goes_on
            and has_end
            and standing.is_own
            and not standing.renews
        ),
        renew_off=offered.automatic_renewal and standing.renews,
        missing_copy=offered.missing_copy and has_issues,
    )
