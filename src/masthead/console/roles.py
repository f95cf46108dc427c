"""What each role may do in the console; the server checks it for each request."""

from enum import Enum

from masthead.contract.printable import listed
from masthead.store.operators import Role


class Action(Enum):
    """An action that a role may do; the value is its name in a refusal."""

    LOOK = "look at this"
    AUDIT_LOG = "read the log"
    ORDER = "take orders"
    SERVE = "change subscribers and subscriptions"
    NOTE = "write notes"
    PRICE = "take an order at another price"
    PAY = "book payments"
    REFUND = "refund"
    BILL = "book the money of invoices"
    ERASE = "erase readers"
    CLOSE = "close issues and write their files"
    RENEW = "send renewals"
    PARTNERS = "give partners access"
    PAGES = "change the readers' pages"


_CLERK = {Action.LOOK, Action.ORDER, Action.SERVE, Action.NOTE, Action.PAY}
_MAY: dict[Role, set[Action]] = {
    "viewer": {Action.LOOK},
    "clerk": _CLERK,
    "finance": {
        Action.LOOK,
        Action.AUDIT_LOG,
        Action.NOTE,
        Action.ORDER,
        Action.PRICE,
        Action.PAY,
        Action.REFUND,
        Action.BILL,
    },
    "manager": set(Action),
}


_SAID: dict[Role, str] = {
    "viewer": "a viewer",
    "clerk": "a clerk",
    "finance": "finance",
    "manager": "a manager",
}


def who_may(*actions: Action) -> str:
    """Return who may do all of the actions, for a sentence: ``finance or a manager``."""
    return listed([said for role, said in _SAID.items() if _MAY[role].issuperset(actions)], "or")


def refusal(role: Role, action: Action) -> str:
    """Return the sentence that refuses the action, and says who may do it."""
    return f"As {role} you cannot {action.value}. Who may: {who_may(action)}."


def may(role: Role, action: Action) -> bool:
    """Return whether the role may do the action."""
    return action in _MAY[role]
