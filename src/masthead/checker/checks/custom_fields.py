"""Operations 5 and 6: the custom fields, and the subscribers' answers to them."""

from typing import Any

from masthead.checker.findings import NotTried
from masthead.checker.forms import differing_fields
from masthead.checker.service import Record, Service, id_of, objects, unknown_id
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import CustomFieldAnswer, CustomFieldDefinition

_DEFINITIONS = OPERATIONS["list_custom_fields"]
_ANSWERS = OPERATIONS["get_custom_field_answers"]
_DEFINED = f"GET {_DEFINITIONS.path}"
_ANSWERED = f"GET {_ANSWERS.path}"
_PEOPLE = 3


def definitions_have_the_form_of_their_table(service: Service) -> None:
    """The definitions are an array; each matches its table and has its own id.

    Interface, operation 6; "Custom field definition".
    """
    records = service.records(service.ask("list_custom_fields"), _DEFINITIONS)
    service.check_records(CustomFieldDefinition, records, _DEFINED, "[]")
    section = "Custom field definition"
    service.check_unique(objects(records), section, _DEFINED, "[].field_id")
    for record in objects(records):
        options = objects(record.get("value_options"))
        service.check_unique(options, section, _DEFINED, "[].value_options[].option_id")


def answers_have_the_form_of_their_table(service: Service) -> None:
    """The answers of a subscriber are an array; each matches its table, with one for each field.

    Interface, operation 5; "Custom field answer set".
    """
    for subscriber_id in _people(service):
        response = service.ask("get_custom_field_answers", subscriber_id=subscriber_id)
        records = service.records(response, _ANSWERS)
        service.check_records(CustomFieldAnswer, records, _ANSWERED, "[]")
        service.check_unique(objects(records), "Operation 5", _ANSWERED, "[].field_id")


def answers_are_to_defined_fields(service: Service) -> None:
    """Each answer is to a defined field, and has its name, label, type and `allow_other`.

    Interface, operations 5 and 6.
    """
    defined = {id_of(one): one for one in service.definitions}
    for subscriber_id in _people(service):
        for one in service.rows("get_custom_field_answers", subscriber_id=subscriber_id):
            definition = defined.get(id_of(one))
            if definition is None:
                text = "an answer is to a field that operation 6 does not have"
                service.differs("Operation 5", _ANSWERED, "[].field_id", text)
                continue
            for name in differing_fields(one, definition):
                text = "it differs from that of the field's definition"
                service.differs("Operation 5", _ANSWERED, f"[].{name}", text)
            options = {id_of(option) for option in objects(definition.get("value_options"))}
            if any(id_of(value) not in options for value in objects(one.get("values"))):
                text = "a chosen option is not among those of the field's definition"
                service.notes("Operation 5", _ANSWERED, "[].values[].option_id", text)


def the_feed_shows_the_same_answers(service: Service) -> None:
    """The change feed shows the same answers of a subscriber.

    Interface, operations 4 and 5.
    """
    records = service.feed.get("custom_fields", [])[:_PEOPLE]
    if not records:
        raise NotTried("the change feed shows no answers")
    for record in records:
        response = service.ask(
            "get_custom_field_answers", subscriber_id=str(record.get("subscriber_id"))
        )
        here = _by_field(service.records(response, _ANSWERS))
        there = _by_field(record.get("custom_fields"))
        if here.keys() != there.keys():
            text = "the change feed has answers to other fields"
            service.differs("Operation 5", _ANSWERED, "[].field_id", text)
        for key in here.keys() & there.keys():
            for name in differing_fields(here[key], there[key]):
                text = "it differs from that of the same answer in the change feed"
                service.differs("Operation 5", _ANSWERED, f"[].{name}", text)


def unknown_subscribers_answers_are_an_error(service: Service) -> None:
    """A request for the answers of a subscriber who does not exist is an error.

    Interface, operation 5, which leaves it open; "Errors".
    """
    known = {id_of(one) for one in service.subscribers}
    response = service.ask("get_custom_field_answers", subscriber_id=unknown_id(known))
    if response.status == 200:
        service.records(response, _ANSWERS)
    service.refused(response, "Errors", "subscriber_id", "an unknown subscriber", 404)


def _people(service: Service) -> list[str]:
    """Return the ids of some subscribers, those in the change feed first."""
    changed = service.feed.get("subscribers", [])
    people = list(dict.fromkeys(id_of(one) for one in [*changed, *service.subscribers]))
    if not people:
        raise NotTried("the service shows no subscriber")
    return people[:_PEOPLE]


def _by_field(records: Any) -> dict[str, Record]:
    return {id_of(one): one for one in objects(records)}


CHECKS = (
    definitions_have_the_form_of_their_table,
    answers_have_the_form_of_their_table,
    answers_are_to_defined_fields,
    the_feed_shows_the_same_answers,
    unknown_subscribers_answers_are_an_error,
)
