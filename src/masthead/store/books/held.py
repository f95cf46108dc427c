"""Subscriptions that closing an issue holds: to be checked by hand (circulation, "Close")."""

from typing import NamedTuple

UNPAID, PASSED_OVER, DELETED = "unpaid", "passed over", "deleted"
NO_ADDRESS, OVER_QUOTA = "no address", "over the quota of class"
"""Why a subscription is held; the name of the audit class follows the last one."""

_REASONS = {
    UNPAID: "its order is not paid",
    NO_ADDRESS: "it has no address",
    DELETED: "its reader was deleted: cancel it, with a refund or without",
    PASSED_OVER: "an order is not paid, and a later one that is paid was delivered instead",
}


class Held(NamedTuple):
    """A subscription to check by hand: it would be served but was not, or not as it should be.

    ``why`` is ``unpaid``, ``no address``, ``deleted`` (its reader), or ``passed over`` if a term
    that is not paid was left out and a later one was delivered. For a qualified copy, it is
    ``over the quota of class`` with the name of the audit class.
    """

    subscription_id: int
    subscriber_id: int
    why: str

    @property
    def reason(self) -> str:
        """What ``why`` means, in words."""
        return _REASONS.get(self.why, f"it is {self.why}")

    @property
    def is_over_quota(self) -> bool:
        """Whether the quota of its audit class was full."""
        return self.why.startswith(OVER_QUOTA)
