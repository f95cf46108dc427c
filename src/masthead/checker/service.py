"""The checked service: its data, and the findings about it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from masthead.checker.asking import Asker, Asking, Response
from masthead.checker.findings import Faulty, Finding, NotTried, Severity
from masthead.checker.forms import differing_fields, faults_of
from masthead.checker.reading import beginning_of, read, type_of
from masthead.checker.repeating import MadeUp
from masthead.contract.operations import ENTITIES, LIMIT_MAX, OPERATIONS, Operation

WINDOW = timedelta(days=5) - timedelta(hours=1)
"""How far back the checker reads the feed; the interface allows 5 days."""

NOT_SHOWN = "orders"
"""The entity whose key does not appear in the interface."""

ALL = tuple(entity.name for entity in ENTITIES)
SUCCESS = 200
_GONE = 410
_KEPT = ("accounts", "definitions", "subscriptions", "subscribers", "feed", "feed_since")
Record = dict[str, Any]
Feed = dict[str, list[Record]]
"""The records of the feed by the keys of the response."""


def id_of(record: Record) -> str:
    """Return the id of a record, which is its first field in every table."""
    return str(next(iter(record.values()), None))


class Service:
    """Requests the data that checks need, each once, and keeps their findings."""

    def __init__(self, asker: Asker, key: str, login: str) -> None:
        self.asker = asker
        self.credentials = (key, login)
        asker.source_of = self._source_of
        self.findings: list[Finding] = []

    # Findings

    def differs(self, section: str, request: str, field: str, text: str, repeat: str = "") -> None:
        """Keep a difference from the interface."""
        self.keep(Finding("difference", section, request, field, text, repeat))

    def notes(self, section: str, request: str, field: str, text: str) -> None:
        """Keep a note on what the interface leaves open."""
        self.keep(Finding("note", section, request, field, text))

    def keep(self, finding: Finding) -> None:
        """Keep a finding unless it is known, with a request that repeats it.

        Unless the finding has one, this is the last request of its kind since :meth:`begin`, or
        else the one that read the data which the checks share.
        """
        if any(finding[:5] == known[:5] for known in self.findings):
            return
        repeat = finding.repeat or self.asker.repeats.get(finding.request)
        self.findings.append(finding._replace(repeat=repeat or self.whole(finding.request)))

    def begin(self) -> None:
        """Begin a check, which has no findings so far."""
        self.findings = []
        self.asker.repeats.clear()

    def whole(self, request: str) -> str:
        """Return the request for all data of a path, as a line of a shell."""
        method, _, path = request.rpartition(" ")
        parameters = (
            feed_parameters(self.feed_since, ALL) if path == OPERATIONS["changes"].path else {}
        )
        asking = Asking(method=method or "GET", in_body=bool(parameters) and self.reads_bodies_only)
        return self.asker.line(path, parameters, {}, asking)

    def _source_of(self, name: str, value: str) -> str:
        """Return what a person's value is, with the id of a record that has it."""
        feed = self.__dict__.get("feed", {})
        records = [*self.__dict__.get("subscribers", ()), *feed.get("subscribers", ())]
        field, key = "renewal_code" if name == "login" else name, "subscriber_id"
        if name == "password":
            records, field, key = feed.get("addresses", []), "zip_code", "address_id"
        owner = next((one.get(key) for one in records if one.get(field) == value), None)
        return f"{field} of {key} {owner}" if owner else name

    # Responses

    def json_of(self, response: Response, section: str) -> Any:
        """Return the JSON body of a response that must be 200; raises Faulty if it is not."""
        if response.status != SUCCESS:
            redirect = ", a redirect" if 300 <= response.status < 400 else ""
            text = f"{response.status}{redirect}, where 200 is expected"
            raise Faulty(Finding("difference", section, response.request, "", text))
        media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            text = "the Content-Type is not application/json; responses are JSON"
            self.differs("Conventions", response.request, "Content-Type", text)
        return self.body_of(response)

    def body_of(self, response: Response) -> Any:
        """Return the JSON body of a response; raises Faulty if it is not JSON."""
        if not response.is_whole:
            raise NotTried(f"the response of {response.request} is too long to be read")
        try:
            found = read(response.content)
        except ValueError as error:
            text = f"the body cannot be read: {error}; responses are JSON"
            raise Faulty(Finding("difference", "Conventions", response.request, "", text)) from None
        for fault in found.faults:
            self.differs("Conventions", response.request, "", fault)
        return found.value

    def refused(
        self, response: Response, section: str, field: str, what: str, *expected: int
    ) -> None:
        """Check a response that should be an error with one of the statuses.

        The interface specifies neither the statuses nor the bodies of errors, so all findings are
        notes.
        """
        wanted = " or ".join(map(str, expected))
        if response.status not in expected:
            text = f"{what} is answered with {response.status}; clients expect {wanted}"
            self.notes(section, response.request, field, text)
        if response.status < 400 or response.request.startswith("HEAD "):
            return
        body, reason = None, ""
        try:
            body = read(response.content).value
        except ValueError as error:
            reason = f": {error}"
        if not isinstance(body, dict) or not isinstance(body.get("error"), str):
            text = f'the body of an error is not {{"error": "…"}}, which clients expect{reason}'
            self.notes("Errors", response.request, "error", text)

    def member(self, body: Any, name: str, response: Response, section: str) -> Any:
        """Return the only member of an object; raises Faulty if the member is missing."""
        if not isinstance(body, dict) or name not in body:
            found = "an object without it" if isinstance(body, dict) else type_of(body)
            text = f"the body is {found}, and has to be an object with `{name}`"
            raise Faulty(Finding("difference", section, response.request, name, text))
        if len(body) > 1:
            text = f"the object has other members beside `{name}`"
            self.differs(section, response.request, name, text)
        return body[name]

    def records(self, response: Response, operation: Operation) -> list[Any]:
        """Return the list of records of a response; raises Faulty if it is not a list."""
        section = section_of(operation)
        body = self.json_of(response, section)
        if operation.envelope:
            body = self.member(body, operation.envelope, response, section)
        if not isinstance(body, list):
            text = f"{type_of(body)} where an array of records is expected"
            raise Faulty(
                Finding("difference", section, response.request, operation.envelope or "", text)
            )
        return body

    def ask(self, name: str, parameters: Mapping[str, str] | None = None, **ids: str) -> Response:
        """Return the response of an operation, with parameters where the service reads them."""
        path = OPERATIONS[name].path
        if parameters and self.reads_bodies_only:
            return self.asker.ask(path, parameters, ids, Asking(in_body=True))
        return self.asker.ask(path, parameters, ids)

    def rows(
        self, name: str, parameters: Mapping[str, str] | None = None, **ids: str
    ) -> list[Record]:
        """Return those records of an operation that are objects."""
        response = self.ask(name, parameters, **ids)
        return objects(self.records(response, OPERATIONS[name]))

    def check_records(self, shape: type, records: Sequence[Any], request: str, place: str) -> None:
        """Compare records with the table of the interface, and their ids with each other."""
        for finding in faults_of(shape, records, request, place):
            self.keep(finding)

    def check_unique(
        self,
        records: Sequence[Record],
        section: str,
        request: str,
        field: str,
        severity: Severity = "difference",
    ) -> None:
        """Report records of one list with the same id; the id is the last part of ``field``."""
        name = field.rpartition(".")[2]
        ids = [str(record.get(name)) for record in records if record.get(name) is not None]
        if repeats := len(ids) - len(set(ids)):
            text = f"{repeats} of {len(ids)} records have an id that another one has"
            self.keep(Finding(severity, section, request, field, text))

    def check_against_feed(
        self, operation: Operation, listed: Sequence[Record], section: str
    ) -> None:
        """Compare the records of a list with the feed's records of the same ids.

        Raises NotTried if there are none.
        """
        key = str(operation.envelope)
        by_id = {id_of(one): one for one in listed}
        changed = self.feed.get(key, [])
        pairs = [(one, by_id[id_of(one)]) for one in changed if id_of(one) in by_id]
        if not pairs:
            what = section.lower()
            raise NotTried(f"no {what} is both in the list and in the change feed")
        differing = Counter(name for pair in pairs for name in differing_fields(*pair))
        for name, count in differing.items():
            text = (
                f"{count} of {len(pairs)} records have another value in the list than in the feed"
            )
            self.differs(section, f"GET {operation.path}", f"{key}[].{name}", text)

    # Data

    @cached_property
    def reads_bodies_only(self) -> bool:
        """Whether the service reads parameters only from a JSON body, not from the query.

        The interface does not say where parameters are sent.
        """
        for name in ("list_subscriptions", "search_subscribers"):
            operation = OPERATIONS[name]
            if len(self._quietly(operation, Asking())) < 2:
                continue
            if len(self._quietly(operation, Asking(query=MadeUp("limit=1")))) == 1:
                return False
            in_body = Asking(content=b'{"limit": "1"}')
            return len(self._quietly(operation, in_body)) == 1
        return False

    def _quietly(self, operation: Operation, asking: Asking) -> Sequence[Any]:
        try:
            return self.records(self.asker.ask(operation.path, asking=asking), operation)
        except Faulty:
            return ()

    @cached_property
    def accounts(self) -> list[Record]:
        """The records of operation 1."""
        return self.rows("list_accounts")

    @cached_property
    def definitions(self) -> list[Record]:
        """The records of operation 6."""
        return self.rows("list_custom_fields")

    @cached_property
    def subscriptions(self) -> list[Record]:
        """The records of operation 7 without parameters."""
        return self.rows("list_subscriptions")

    @cached_property
    def subscribers(self) -> list[Record]:
        """The records of operation 8 without parameters."""
        return self.rows("search_subscribers")

    @cached_property
    def feed_since(self) -> datetime:
        """The start of :attr:`feed`."""
        return self.window_start

    @cached_property
    def feed(self) -> Feed:
        """The changes of almost five days, as far as the size limit allows.

        Each entity is requested alone, so that each has some records. The interface does not say
        whether `orders` can be requested.
        """
        found: Feed = {}
        for name in ALL:
            try:
                found |= self.changes([name], self.feed_since)[0]
            except Faulty:
                if name != NOT_SHOWN:
                    raise
        # One line repeats all of these requests.
        self.asker.repeats.pop(f"GET {OPERATIONS['changes'].path}", None)
        return found

    def changes(self, entities: Iterable[str], since: datetime | None = None) -> tuple[Feed, bool]:
        """Return the changes of the feed, and whether the response was read completely."""
        names = list(entities)
        response = self.ask("changes", feed_parameters(since or self.window_start, names))
        if response.status == _GONE:
            text = "410 for a time within five days: a new epoch of the feed has begun since"
            raise Faulty(Finding("note", "Limits", response.request, "changed_since", text))
        if response.status == SUCCESS and not response.is_whole:
            return {
                key: objects(found) for key, found in beginning_of(response.content).items()
            }, False
        body = self.feed_in(response)
        return {key: objects(found) for key, found in body.items()}, True

    def feed_in(self, response: Response) -> dict[str, Any]:
        """Return the body of a response of the feed; raises Faulty if it is not an object."""
        body = self.json_of(response, "Operation 4")
        if not isinstance(body, dict):
            text = f"the body is {type_of(body)}, and has to be an object"
            raise Faulty(Finding("difference", "Operation 4", response.request, "", text))
        return body

    @property
    def window_start(self) -> datetime:
        """The earliest time for which the checker requests the feed."""
        return self.asker.now() - WINDOW

    def forget(self) -> None:
        """Forget all responses, since the data may have changed between two requests."""
        for name in _KEPT:
            self.__dict__.pop(name, None)


def section_of(operation: Operation) -> str:
    """Return the section that findings name for an operation."""
    return f"Operation {operation.number}"


def unknown_id(known: set[str]) -> MadeUp:
    """Return an id that is not among the known ones, and that no record is likely to have."""
    number = 9_007_199_254_740_881
    while str(number) in known:
        number -= 1
    return MadeUp(number)


def is_another(body: Any, field: str, asked_for: str) -> bool:
    """Tell whether a body is a record with an id other than the requested one."""
    return isinstance(body, dict) and bool(body.get(field)) and str(body[field]) != asked_for


def objects(value: Any) -> list[Record]:
    """Return the records of a list that are objects; none if the value is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def feed_parameters(since: datetime, entities: Sequence[str]) -> dict[str, str]:
    """Return the parameters of operation 4, in the form that the interface shows."""
    text = since.replace(microsecond=0).isoformat()
    return {"changed_since": text, "entities": ",".join(entities)}


def is_full(records: Sequence[Any], listed: Sequence[Any]) -> bool:
    """Tell whether more records may match than the result shows.

    That is so if the result has as many records as the unfiltered list.
    """
    return len(records) >= min(LIMIT_MAX, len(listed) or 1)
