"""Records are added, changed and removed as an import would, and served by the real app."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.emulator import MastheadServer
from masthead.errors import BadInput, MastheadError
from masthead.store.books.ownership import BOOKS
from tests.api.conftest import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from masthead import Client

# A record of each kind with as few fields as it can have; what is before it is there.
LEAST: dict[str, dict[str, Any]] = {
    "publications": {"publication_id": 1},
    "list_downloads": {"mailing_list_id": 1},
    "issues": {"issue_id": 1, "publication_id": 1},
    "subscribers": {"subscriber_id": 1},
    "addresses": {"address_id": 1, "subscriber_id": 1},
    "subscriptions": {"subscription_id": 1, "subscriber_id": 1, "publication_id": 1},
    "custom_fields": {"field_id": 1},
    "custom_field_options": {"option_id": 1, "field_id": 1},
    "custom_field_answers": {"subscriber_id": 1, "field_id": 1, "option_ids": [1]},
    "classes": {"class_id": 1},
    "bundles": {"bundle_id": 1},
    "products": {"product_id": 1},
    "orders": {"order_id": 1, "subscriber_id": 1},
    "purchases": {"purchase_id": 1, "subscriber_id": 1},
    "order_items": {"order_item_id": 1, "order_id": 1, "bundle_id": 1},
    "subscription_issues": {"subscription_id": 1, "issue_id": 1},
    "mailing_list_entries": {"mailing_list_id": 1, "subscription_id": 1},
    "notes": {"note_id": 1, "subscriber_id": 1},
    "complaints": {
        "complaint_id": 1,
        "subscriber_id": 1,
        "subscription_id": 1,
        "issue_id": 1,
        "kind": "late",
        "answer": "nothing",
    },
    "page_settings": {"setting_id": 1, "name": "site"},
    "reader_bundles": {"bundle_id": 1},
    "reader_changes": {"reader_change_id": 1, "subscriber_id": 1, "kind": "pause"},
    "reader_consents": {"reader_consent_id": 1, "subscriber_id": 1, "purpose": "news"},
    "reader_requests": {"reader_request_id": 1, "subscriber_id": 1, "kind": "message"},
}


def get(server: MastheadServer, path: str, **parameters: str) -> httpx2.Response:
    return httpx2.get(server.base_url + path, auth=server.credentials, params=parameters or None)


def test_an_id_and_the_references_are_enough_for_a_record_of_each_kind(
    server: MastheadServer,
) -> None:
    """rules, "The records of the emulator"."""
    for kind, record in LEAST.items():
        server.add(kind, record)
    (subscription,) = get(server, "/2/subscriptions/").json()["subscriptions"]
    today = f"{server.clock.now:%Y-%m-%d}"
    assert {name: subscription[name] for name in ("type", "copies", "issues", "date_created")} == {
        "type": "Print",
        "copies": "1",
        "issues": "12",
        "date_created": today,
    }
    (subscriber,) = get(server, "/2/subscribers/", renewal_code="00001").json()["subscribers"]
    assert subscriber["subscriber_id"] == "1"
    (field,) = get(server, "/2/customfields/").json()
    assert (field["type"], field["value_options"][0]["active"]) == ("text", True)
    assert get(server, "/2/orders/1").json()["order_date"].startswith(today)
    (entry,) = get(server, "/2/downloadmailinglist/1/").json()
    assert (entry["type"], entry["copies"]) == ("Print", "1")


def test_what_is_given_is_no_default(server: MastheadServer) -> None:
    server.add("subscribers", {"subscriber_id": 1, "renewal_code": "ABCDE"}, {"subscriber_id": "7"})
    server.add("orders", {"order_id": 1, "subscriber_id": 7, "grand_total": 10.25})
    codes = [s["renewal_code"] for s in get(server, "/2/subscribers/").json()["subscribers"]]
    assert codes == ["ABCDE", "00007"]
    assert '"grand_total":10.25,' in get(server, "/2/orders/1").text


@pytest.mark.parametrize(
    ("kind", "record", "sentence"),
    [
        (
            "subscriptions",
            {"subscription_id": 2, "subscriber_id": 9, "publication_id": 1},
            "subscriptions, record 1: subscriber_id: there is no subscriber 9",
        ),
        (
            "subscriptions",
            {"subscription_id": 2, "subscriber_id": 1, "publication_id": 1, "type": "Paper"},
            "subscriptions, record 1: type: 'Paper' is not one of Print, Digital, Both",
        ),
        ("subscribers", {"email": "a@reader.example"}, "subscriber_id is missing"),
        ("subscribers", {"subscriber_id": 2, "emial": ""}, "the nearest is 'email'"),
        ("subscribers", {"subscriber_id": 1}, "subscribers 1 is there already"),
        ("subscriber", {"subscriber_id": 2}, "no records called 'subscriber'; the nearest is"),
        ("terms", {"term_id": 1, "subscription_id": 1}, "they belong to open books"),
    ],
)
def test_a_record_that_is_wrong_is_refused_with_a_sentence_and_nothing_is_changed(
    server: MastheadServer, kind: str, record: dict[str, Any], sentence: str
) -> None:
    """rules, "The records of the emulator"."""
    for of_kind in ("publications", "subscribers", "subscriptions"):
        server.add(of_kind, LEAST[of_kind])
    before = get(server, "/snapshot", entities="subscribers,subscriptions").text
    good = {"subscribers": [{"subscriber_id": 3}]} if kind != "subscribers" else {}
    with pytest.raises(BadInput) as refused:
        server.ask("POST", "/records", {**good, kind: [record]})
    assert sentence in str(refused.value)
    assert "--reject" not in str(refused.value)
    assert get(server, "/snapshot", entities="subscribers,subscriptions").text == before


@pytest.mark.parametrize(
    "spelled", ["5", '"5"', '"\\u0035"', '"05"', "5.0", "5e0", "[5]", '" 5"', "9" * 5_000, "true"]
)
def test_no_spelling_of_an_id_adds_a_record_that_is_there(
    server: MastheadServer, spelled: str
) -> None:
    """rules, "The records of the emulator": not even one that only JSON can write."""
    server.add("subscribers", {"subscriber_id": 5, "first_name": "Ann"})
    body = f'{{"subscribers": [{{"subscriber_id": {spelled}, "first_name": "Bob"}}]}}'
    response = httpx2.post(f"{server._control}/records", content=body)
    assert response.status_code == 400, response.text
    assert "error" in response.json()
    (found,) = get(server, "/2/subscribers/").json()["subscribers"]
    assert found["first_name"] == "Ann"


def test_a_new_record_has_the_renewal_code_of_its_id_in_any_spelling(
    server: MastheadServer,
) -> None:
    body = '{"subscribers": [{"subscriber_id": "\\u0035"}]}'
    assert httpx2.post(f"{server._control}/records", content=body).status_code == 200
    (found,) = get(server, "/2/subscribers/").json()["subscribers"]
    assert found["renewal_code"] == "00005"


def test_two_records_that_cannot_be_together_are_both_named(server: MastheadServer) -> None:
    twice = [{"subscriber_id": 1}, {"subscriber_id": 2}, {"subscriber_id": 1}]
    with pytest.raises(BadInput, match=r"subscribers, record 3: .* in record 1 too") as refused:
        server.add("subscribers", *twice)
    assert "line" not in str(refused.value)


def test_a_change_keeps_the_columns_that_it_lacks(server: MastheadServer) -> None:
    server.add("subscribers", {"subscriber_id": 1, "email": "a@b.example", "first_name": "Ann"})
    server.change("subscribers", {"subscriber_id": 1, "email": "ann@b.example"})
    (found,) = get(server, "/2/subscribers/").json()["subscribers"]
    assert (found["email"], found["first_name"], found["renewal_code"]) == (
        "ann@b.example",
        "Ann",
        "00001",
    )
    with pytest.raises(BadInput, match="subscribers 2 is not there: add it first"):
        server.change("subscribers", {"subscriber_id": 1}, {"subscriber_id": 2})


def test_a_removed_record_is_gone_with_its_parts_and_a_subscriber_gets_a_delete_date(
    server: MastheadServer,
) -> None:
    for kind, record in LEAST.items():
        server.add(kind, record)
    server.remove("mailing_list_entries", "1/1")
    assert get(server, "/2/downloadmailinglist/1/").json() == []
    server.remove("orders", 1)
    assert get(server, "/2/orders/1").status_code == 404
    with pytest.raises(BadInput, match="refers to it"):
        server.remove("publications", 1)
    with pytest.raises(BadInput, match="one kind of records at a time"):
        server.ask("DELETE", "/records", {"orders": [1], "purchases": [1]})
    server.remove("subscribers", 1)
    assert get(server, "/2/subscribers/").json() == {"subscribers": []}
    for ids, sentence in (((1, 9), "has no subscription 9"), (("x",), "'x' is no subscription_id")):
        with pytest.raises(BadInput, match=sentence):
            server.remove("subscriptions", *ids)
    assert len(get(server, "/2/subscriptions/").json()["subscriptions"]) == 1


def test_the_records_of_a_folder_are_the_beginning_to_which_it_goes_back() -> None:
    """rules, "The fixture"."""
    with MastheadServer(DATA / "feed") as server:
        whole = get(server, "/snapshot", entities="subscribers,orders,customfields").text
        assert '"subscriber_id"' in whole
        server.add("subscribers", {"subscriber_id": 777})
        server.clock.move(days=6)
        server.faults.respond(503, requests=9)
        server.reset()
        assert get(server, "/snapshot", entities="subscribers,orders,customfields").text == whole
        assert len(server.requests) == 1


def test_a_reset_forgets_failed_logins(server: MastheadServer) -> None:
    """rules, "The fixture": what servers count is forgotten too."""
    server.add("subscribers", {"subscriber_id": 1, "email": "a@b.example", "password": "right"})
    path = "/2/subscribers/authenticate/"
    statuses = [
        get(server, path, login="a@b.example", password=f"wrong {n}").status_code for n in range(12)
    ]
    assert statuses[0] == 200
    assert statuses[-1] == 429
    server.reset()
    server.add("subscribers", {"subscriber_id": 1, "email": "a@b.example", "password": "right"})
    found = get(server, path, login="a@b.example", password="right").json()
    assert found["authenticated"] is True


def test_bad_files_end_the_start_with_their_sentence(tmp_path: Path) -> None:
    (tmp_path / "addresses.ndjson").write_text(json.dumps(LEAST["addresses"]))
    with pytest.raises(MastheadError, match="there is no subscriber 1"):
        MastheadServer(tmp_path)


def test_each_kind_of_record_without_books_is_tried() -> None:
    of_catalogue = {"bundle_lines", "renewal_efforts", "cancellation_reasons", "erasures"}
    assert LEAST.keys() == TABLES_BY_NAME.keys() - {*BOOKS} - of_catalogue


def test_the_client_reads_what_was_added(server: MastheadServer, client: Client) -> None:
    server.add("subscribers", {"subscriber_id": 1, "email": "a@b.example", "password": "secret"})
    assert [each.subscriber_id for each in client.search_subscribers()] == [1]
    found = client.authenticate("a@b.example", "secret")
    assert found
    assert found.subscriber_id == 1
