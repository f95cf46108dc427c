"""Runs the checks against a service and collects their findings."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import NamedTuple

from masthead.checker.asking import Asker
from masthead.checker.checks import (
    accounts,
    credentials,
    custom_fields,
    feed,
    feed_times,
    lists,
    logins,
    mailing_lists,
    orders,
    requests,
    subscribers,
    subscriptions,
)
from masthead.checker.findings import Faulty, Finding, NotTried
from masthead.checker.service import Service
from masthead.contract.operations import OPERATIONS
from masthead.errors import ServiceError

Check = Callable[[Service], None]

CHECKS: dict[str, Sequence[Check]] = {
    "accounts": accounts.CHECKS,
    "requests": requests.CHECKS,
    "change feed": (*feed.CHECKS, *feed_times.CHECKS),
    "lists": lists.CHECKS,
    "subscriptions": subscriptions.CHECKS,
    "subscribers": subscribers.CHECKS,
    "custom fields": custom_fields.CHECKS,
    "orders": orders.CHECKS,
    "mailing lists": mailing_lists.CHECKS,
    "logins": logins.CHECKS,
    # The last group, since a service may lock a client after wrong credentials.
    "credentials": credentials.CHECKS,
}
"""All checks by group, in the order in which they run."""

_NO_RESPONSE = "there is no complete response that can be read"
_LISTS = tuple(
    OPERATIONS[name].path
    for name in ("list_accounts", "list_subscriptions", "search_subscribers", "list_custom_fields")
)


class Report(NamedTuple):
    """The result of a run; ``not_tried`` has the titles of checks that were not made, and why.

    ``checks`` is the number of checks made or tried. ``ended`` says why the rest were not: the
    service became unreachable, or refused the credentials.
    """

    findings: list[Finding]
    not_tried: dict[str, str]
    checks: int
    requests: int
    ended: ServiceError | None = None

    @property
    def differences(self) -> list[Finding]:
        """The findings that are differences from the interface."""
        return [finding for finding in self.findings if finding.severity == "difference"]

    @property
    def notes(self) -> list[Finding]:
        """The findings on what the interface leaves open."""
        return [finding for finding in self.findings if finding.severity == "note"]


def check(
    base_url: str,
    key: str,
    login: str,
    rate: float,
    tell: Callable[[str, int], None] = lambda _title, _number: None,
    *,
    show_ids: bool = False,
) -> Report:
    """Compare a service with the interface; ``tell`` is called before each check.

    The requests that repeat the findings have the ids of records only with ``show_ids``.

    Raises BadInput for an invalid URL. Raises ServiceError if the service cannot be reached, does
    not have the interface, or refuses the credentials; if that happens later, the report says so.
    """
    with Asker(base_url, key, login, rate, show_ids=show_ids) as asker:
        _must_be_open(asker)
        service = Service(asker, key, login)
        found: dict[tuple[str, ...], Finding] = {}
        not_tried: dict[str, str] = {}
        checks = [each for group in CHECKS.values() for each in group]
        for number, each in enumerate(checks):
            tell(title_of(each), number)
            findings = _findings(each, service, not_tried)
            if any(finding.text == _NO_RESPONSE for finding in findings):
                # If the service is gone, every other check would report a difference.
                try:
                    _must_be_open(asker)
                except ServiceError as error:
                    return Report(list(found.values()), not_tried, number, asker.count, error)
            if any(finding.severity == "difference" for finding in findings):
                # Data may change between two requests: only a repeated finding is a difference.
                service.forget()
                places = {finding[:4] for finding in findings}
                again = _findings(each, service, not_tried)
                # Compare without the text, whose numbers of records may change too.
                findings = [finding for finding in again if finding[:4] in places]
            for finding in findings:
                found.setdefault(finding[:5], finding)
        return Report(list(found.values()), not_tried, len(checks), asker.count)


def title_of(each: Check) -> str:
    """Return the first line of a check's docstring: the requirement."""
    return (each.__doc__ or "").partition("\n")[0]


def section_of(each: Check) -> str:
    """Return the second paragraph of a check's docstring: the sections of the interface."""
    return " ".join((each.__doc__ or "").split("\n\n")[1].split())


def _must_be_open(asker: Asker) -> None:
    """Raise ServiceError if the service refuses the credentials or does not exist."""
    first, *others = _LISTS
    try:
        status = asker.ask(first).status
        is_missing = status == HTTPStatus.NOT_FOUND
        is_missing = is_missing and all(asker.ask(path).status == status for path in others)
    except NotTried:
        # A service that limits requests exists.
        return
    if status in {401, 403}:
        raise ServiceError(first, status, "the credentials are refused")
    if is_missing:
        text = "no path of the interface is here; the base URL is what comes before /2/"
        raise ServiceError(first, status, text)


def _findings(each: Check, service: Service, not_tried: dict[str, str]) -> list[Finding]:
    service.begin()
    try:
        each(service)
    except Faulty as error:
        service.keep(error.finding)
    except NotTried as error:
        not_tried[title_of(each)] = str(error)
    except ServiceError as error:
        repeat = service.asker.repeats.get(f"GET {error.path}", "")
        service.keep(Finding("difference", "Endpoints", error.path, "", _NO_RESPONSE, repeat))
    return service.findings
