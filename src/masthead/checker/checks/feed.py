"""Operation 4: the change feed, its keys, its records and its window."""

from datetime import datetime, timedelta

from masthead.checker.asking import Asking, Response
from masthead.checker.findings import NotTried
from masthead.checker.forms import SECTIONS
from masthead.checker.repeating import MadeUp
from masthead.checker.service import (
    ALL,
    NOT_SHOWN,
    SUCCESS,
    Feed,
    Record,
    Service,
    feed_parameters,
    id_of,
)
from masthead.checker.times import Window, no_zone_fits
from masthead.contract.operations import ENTITIES, OPERATIONS
from masthead.contract.shapes import fields_of

_SECTION = "Operation 4"
_PATH = OPERATIONS["changes"].path
_REQUEST = f"GET {_PATH}"
_KEYS = {entity.name: entity.key for entity in ENTITIES}
_RECENT = timedelta(minutes=10)
_WINDOWS = (timedelta(hours=1), timedelta(days=1))
_LONGEST = timedelta(days=5) - timedelta(minutes=1)
_TOO_LONG_AGO = timedelta(days=6)
TOO_LONG = "the feed is too long to be read to its end"
_AHEAD = timedelta(days=1)
_ROUND = {10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000, 10_000, 50_000, 100_000}


def each_requested_entity_has_its_key(service: Service) -> None:
    """The response is an object with an array under the key of each requested entity.

    Interface, operation 4.
    """
    response = service.ask("changes", feed_parameters(service.asker.now() - _RECENT, ALL))
    body = service.feed_in(response)
    for name, key in _KEYS.items():
        tell = service.notes if name == NOT_SHOWN else service.differs
        if key not in body:
            tell(_SECTION, _REQUEST, key, f"the key of the requested entity {name} is missing")
        elif not isinstance(body[key], list):
            tell(_SECTION, _REQUEST, key, "it is no array")
    others = len(body) - sum(key in body for key in _KEYS.values())
    if others > (_KEYS[NOT_SHOWN] not in body):
        text = "the object has members that are no keys of requested entities"
        service.differs(_SECTION, _REQUEST, "", text)


def other_entities_are_left_out(service: Service) -> None:
    """Each entity can be requested alone, and the response has only its key.

    Interface, operation 4.
    """
    for name, key in _KEYS.items():
        response = service.ask("changes", feed_parameters(service.asker.now() - _RECENT, [name]))
        if name == NOT_SHOWN and response.status != SUCCESS:
            text = "orders cannot be requested alone"
            service.notes(_SECTION, _REQUEST, "entities", text)
            continue
        if not response.is_whole:
            continue
        if list(service.feed_in(response)) != [key] and name != NOT_SHOWN:
            text = f"the response to {name} alone is not an object with `{key}` alone"
            service.differs(_SECTION, _REQUEST, key, text)


def records_of_the_feed_have_the_form_of_their_tables(service: Service) -> None:
    """Each record of the feed matches the table of its entity.

    Interface, operation 4, and the tables of its entities.
    """
    for entity in ENTITIES:
        records = service.feed.get(entity.key, [])
        service.check_records(entity.shape, records, _REQUEST, f"{entity.key}[]")
    if not any(service.feed.values()):
        raise NotTried("nothing has changed in the last five days")


def a_record_is_once_in_the_feed(service: Service) -> None:
    """No record of an entity appears twice in a response.

    Interface, operation 4: it returns objects.
    """
    for entity in ENTITIES:
        field = f"{entity.key}[].{fields_of(entity.shape)[0].name}"
        section = SECTIONS[entity.shape]
        service.check_unique(service.feed.get(entity.key, []), section, _REQUEST, field)


def a_shorter_window_has_nothing_else(service: Service) -> None:
    """The last five days include all changes of the last hour and day: no row is left out.

    Interface, operation 4; "Limits". The hour and the day show the subscribers whose
    `modified_date` is in them, and no others.
    """
    before = Window(service.feed_since, _subscribers(service.feed))
    shorter = []
    # The longest one comes last, so it includes what changes meanwhile.
    for window in _WINDOWS:
        since = service.asker.now() - window
        shorter.append((since, *service.changes(ALL, since)))
    since = service.window_start
    wide, is_whole = service.changes(ALL, since)
    if not is_whole or not all(is_whole for *_, is_whole in shorter):
        raise NotTried(TOO_LONG)
    for _, narrow, _ in shorter:
        _compare(service, narrow, wide, "five days lack records that a shorter time shows")
    windows = [Window(moment, _subscribers(narrow)) for moment, narrow, _ in shorter]
    after = Window(since, _subscribers(wide))
    if no_zone_fits(windows, before, after, service.asker.now()):
        text = (
            "an hour and a day lack subscribers whose modified_date is in them, or show others, "
            "whatever its time zone"
        )
        service.differs(_SECTION, _REQUEST, "changed_since", text)


def an_entity_alone_has_nothing_else(service: Service) -> None:
    """An entity requested alone has the same records as with all entities: no row limit.

    Interface, operation 4; "Limits".
    """
    alone = service.feed
    # The same start as the feed, but never more than five days ago.
    since = max(service.feed_since, service.asker.now() - _LONGEST)
    together, is_whole = service.changes(ALL, since)
    if not is_whole:
        raise NotTried(TOO_LONG)
    text = "the response to all entities lacks records that one entity alone shows"
    _compare(service, alone, together, text)
    found = lacking(together, alone)
    names = [name for name, key in _KEYS.items() if key in alone and found[key]]
    if names:
        _compare_alone(service, names, together, since)


def _compare_alone(service: Service, names: list[str], together: Feed, since: datetime) -> None:
    """Report which records are missing when an entity is requested alone.

    A record counts if all entities together show it before and after, so that it existed
    meanwhile. It must be missing twice, since a service may answer from several copies of its
    data.
    """
    once = [service.changes([name], since) for name in names]
    after, is_whole = service.changes(ALL, since)
    twice = [service.changes([name], since) for name in names]
    if not (is_whole and all(is_also for _, is_also in once + twice)):
        raise NotTried(TOO_LONG)
    for name, (first, _), (second, _) in zip(names, once, twice, strict=True):
        key = _KEYS[name]
        known = _ids(first, key) | _ids(second, key)
        if lost := len(_ids(together, key) & _ids(after, key) - known):
            text = "one entity alone lacks records that the response to all entities shows"
            service.differs("Limits", _REQUEST, key, f"{text}: {lost} records")


def no_number_of_records_looks_like_a_row_limit(service: Service) -> None:
    """Several entities do not have the same round number of records.

    Interface, "Limits": the feed has none.
    """
    counts = {entity.key: len(service.feed.get(entity.key, [])) for entity in ENTITIES}
    # Every subscriber may have a record of custom fields, so these two counts are often equal.
    del counts["custom_fields"]
    for count in set(counts.values()) & _ROUND:
        keys = [key for key in counts if counts[key] == count]
        if len(keys) > 1:
            text = f"{', '.join(keys)} have exactly {count} records each, as with a row limit"
            service.notes("Limits", _REQUEST, "", text)


def too_long_ago_is_an_error(service: Service) -> None:
    """A `changed_since` of six days ago returns 410, so that the client notices the gap.

    Interface, "Limits"; "Errors", which leave the form open.
    """
    response = _ask(service, service.asker.now() - _TOO_LONG_AGO)
    service.refused(response, "Limits", "changed_since", "a time 6 days ago", 410)


def the_future_is_an_error(service: Service) -> None:
    """A `changed_since` of tomorrow is an error: otherwise the client loses all changes until then.

    Interface, operation 4, which leaves it open.
    """
    response = service.ask("changes", feed_parameters(service.asker.now() + _AHEAD, ALL))
    if response.status == SUCCESS and response.is_whole and any(service.feed_in(response).values()):
        text = "what changed before that time is shown: nothing has changed since tomorrow"
        service.differs(_SECTION, _REQUEST, "changed_since", text)
    service.refused(response, _SECTION, "changed_since", "a time in the future", 400)


def required_parameters_are_required(service: Service) -> None:
    """Without `changed_since` or without `entities` the response is an error.

    Interface, operation 4; "Errors".
    """
    whole = feed_parameters(service.asker.now() - _RECENT, ["listdownloads"])
    for name in whole:
        response = service.ask("changes", {key: whole[key] for key in whole if key != name})
        service.refused(response, _SECTION, name, "a request without it", 400)
    for name, wrong in (("changed_since", "yesterday"), ("entities", "everything")):
        response = service.ask("changes", whole | {name: wrong})
        service.refused(response, _SECTION, name, f"{name}={wrong}", 400)


def other_forms_of_a_time_are_read(service: Service) -> None:
    """`changed_since` accepts an unescaped `+`, `Z`, and `+0000`.

    Interface, operation 4, which shows only `+hh:mm`.
    """
    moment = (service.asker.now() - _RECENT).replace(microsecond=0)
    plain = f"{moment:%Y-%m-%dT%H:%M:%S}"
    for what, text in (
        ("a + that is not escaped", f"{plain}+00:00"),
        ("Z for the offset", f"{plain}Z"),
        ("an offset without a colon", f"{plain}%2B0000"),
        ("fractions of a second", f"{plain}.000000%2B00:00"),
    ):
        query = MadeUp(f"changed_since={text}&entities=listdownloads")
        response = service.asker.ask(_PATH, asking=Asking(query=query))
        _note_unless_read(service, "changed_since", what, response.status)


def other_forms_of_entities_are_read(service: Service) -> None:
    """`entities` accepts spaces, a trailing comma and any letter case.

    Interface, operation 4, which leaves it open.
    """
    for what, text in (
        ("spaces and a comma at the end", "listdownloads, customfields, "),
        ("another letter case", "ListDownloads"),
        ("a name twice", "listdownloads,listdownloads"),
    ):
        whole = feed_parameters(service.asker.now() - _RECENT, [text])
        _note_unless_read(service, "entities", what, service.ask("changes", whole).status)


def _note_unless_read(service: Service, field: str, what: str, status: int) -> None:
    if status != SUCCESS:
        service.notes(_SECTION, _REQUEST, field, f"{what} is answered with {status}")


def _ask(service: Service, moment: datetime) -> Response:
    return service.ask("changes", feed_parameters(moment, ["listdownloads"]))


def _compare(service: Service, fewer: Feed, more: Feed, text: str) -> None:
    for key, count in lacking(fewer, more).items():
        if count:
            service.differs("Limits", _REQUEST, key, f"{text}: {count} records")


def _ids(feed: Feed, key: str) -> set[str]:
    return {id_of(one) for one in feed.get(key, [])}


def _subscribers(feed: Feed) -> dict[str, Record]:
    return {id_of(one): one for one in feed.get("subscribers", [])}


def lacking(fewer: Feed, more: Feed) -> dict[str, int]:
    """Return how many records of each key are only in the first feed."""
    found = {}
    for entity in ENTITIES:
        ids = _ids(more, entity.key)
        found[entity.key] = sum(id_of(one) not in ids for one in fewer.get(entity.key, []))
    return found


CHECKS = (
    each_requested_entity_has_its_key,
    other_entities_are_left_out,
    records_of_the_feed_have_the_form_of_their_tables,
    a_record_is_once_in_the_feed,
    a_shorter_window_has_nothing_else,
    an_entity_alone_has_nothing_else,
    no_number_of_records_looks_like_a_row_limit,
    too_long_ago_is_an_error,
    the_future_is_an_error,
    required_parameters_are_required,
    other_forms_of_a_time_are_read,
    other_forms_of_entities_are_read,
)
