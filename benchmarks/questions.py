"""What the servers are asked for: paths of each operation, typical ones and the worst."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

from benchmarks.publisher import ACCOUNT_ID, AUTHORIZATION, PATHS, paths, spread
from benchmarks.reader import answered
from masthead.contract.operations import ENTITIES
from masthead.sample_data.generate_values import password

__all__ = ["ENTITY_NAMES", "PEERS_WORK", "poll", "questions"]

ENTITY_NAMES = ",".join(entity.name for entity in ENTITIES)
RARE = 20
PEERS_WORK = {
    "order": "9 one order",
    "list": "7 list of 100 subscriptions",
    "answers": "5 answers to custom fields",
    "account": "2 one account",
    "login": "3 login by email and password",
}
"""The work that peers may know, and what it is called here."""

_LOGIN = "/2/subscribers/authenticate/?"
_SUBSCRIPTIONS = "/2/subscriptions/?"
_SUBSCRIBERS = "/2/subscribers/?"
_FILTERS = {
    "publication_id": "publication_id",
    "type": "type",
    "copies": "copies",
    "campaign_active": "renew_campaign_active",
}
"""The parameters of a list of subscriptions, and the columns that they select by."""


def questions(files: Path) -> dict[str, list[str]]:
    """Return the paths of each kind of work, spread evenly over a publisher's files."""
    subscribers = [row for row in _rows(files, "subscribers") if not row["delete_date"]]
    zip_codes = {row["subscriber_id"]: row["zip_code"] for row in _rows(files, "addresses")}
    answering = {row["subscriber_id"]: "" for row in _rows(files, "custom_field_answers")}
    emails = spread([row["email"] for row in subscribers if row["email"]])
    names = sorted({row["last_name"][:3] for row in subscribers if len(row["last_name"]) > 3})
    by_email = [
        {"login": row["email"], "password": password(int(row["subscriber_id"]))}
        for row in subscribers
        if row["email"] and row["password_md5"]
    ]
    by_code = [
        {"login": row["renewal_code"], "password": zip_codes[row["subscriber_id"]]}
        for row in subscribers
        if row["renewal_code"] and zip_codes.get(row["subscriber_id"])
    ]
    orders, lists = paths(files)
    return {
        "1 all accounts": ["/2/accounts/"],
        PEERS_WORK["account"]: [f"/2/accounts/{ACCOUNT_ID}/"],
        PEERS_WORK["login"]: [_LOGIN + urlencode(given) for given in spread(by_email)],
        "3 login by renewal code": [_LOGIN + urlencode(given) for given in spread(by_code)],
        "3 login refused": [
            _LOGIN + urlencode({"login": email, "password": "wrong"}) for email in emails
        ],
        PEERS_WORK["answers"]: [f"/2/customfields/{number}" for number in spread(list(answering))],
        "6 definitions of custom fields": ["/2/customfields/"],
        PEERS_WORK["list"]: lists,
        "7 subscriptions of a subscriber": [
            _SUBSCRIPTIONS + urlencode({"subscriber_id": row["subscriber_id"]})
            for row in spread(subscribers)
        ],
        "7 filters that one fits": [
            _SUBSCRIPTIONS + urlencode(filters) for filters in _rare_filters(files)
        ],
        "8 subscribers by email": [_SUBSCRIBERS + urlencode({"email": email}) for email in emails],
        "8 subscribers by the start of a name": [
            f"{_SUBSCRIBERS}last_name={quote(name)}*" for name in spread(names)
        ],
        "8 filters that few fit": [
            f"{_SUBSCRIBERS}first_name=m*&last_name=w*&source=web",
            f"{_SUBSCRIBERS}email=a*&first_name=z*&last_name=z*",
        ],
        PEERS_WORK["order"]: orders,
        "10 mailing list": [f"/2/downloadmailinglist/{_typical_list(files)}/"],
    }


def poll(port: int) -> str:
    """Return the path of a poll of the change feed that finds nothing in any entity."""
    path = "/snapshot?entities=listdownloads"
    with answered(port, path, AUTHORIZATION, "identity") as answer:
        since = quote(str(answer.headers["Masthead-Changes-Through"]))
        answer.read()
    return f"/2/cdc?changed_since={since}&entities={ENTITY_NAMES}"


def _rows(files: Path, name: str) -> Iterator[dict[str, str]]:
    with (files / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _rare_filters(files: Path) -> list[dict[str, str]]:
    """Return combinations of filters that fit next to nothing: many rows are visited for one."""
    found = Counter(
        tuple(row[column] for column in _FILTERS.values()) for row in _rows(files, "subscriptions")
    )
    given = ((each, count) for each, count in found.items() if all(each))
    rarest = sorted(given, key=lambda item: (item[1], item[0]))[: min(RARE, PATHS)]
    return [dict(zip(_FILTERS, each, strict=True)) for each, _ in rarest]


def _typical_list(files: Path) -> str:
    """Return the id of the mailing list of the median length."""
    counts = Counter(row["mailing_list_id"] for row in _rows(files, "mailing_list_entries"))
    ordered = sorted(counts, key=lambda number: (counts[number], int(number)))
    return ordered[len(ordered) // 2]
