"""The public face: names, methods alike in both clients, types, and what an import costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.resources import files
from typing import Any

import pytest

import masthead
import masthead.client
from masthead import AsyncClient, Client
from masthead.client import AsyncChanges, Changes
from masthead.contract.operations import OPERATIONS

METHODS = [
    "list_accounts",
    "get_account",
    "authenticate",
    "changes",
    "get_custom_field_answers",
    "list_custom_fields",
    "list_subscriptions",
    "search_subscribers",
    "get_order",
    "download_mailing_list",
]


OWN = [
    *("snapshot", "deletions", "digest", "entitlements"),
    *("send_bodies_if_needed", "omit_odd_records"),
]


def public(thing: type) -> dict[str, Any]:
    """Return the public methods of a class by name."""
    return {name: found for name, found in vars(thing).items() if not name.startswith("_")}


def test_the_names_of_the_package() -> None:
    assert masthead.__all__ == ["AsyncClient", "Client", "__version__"]
    assert masthead.Client is masthead.client.Client
    assert masthead.AsyncClient is masthead.client.AsyncClient


def test_the_names_of_the_client() -> None:
    assert masthead.client.__all__ == [
        "ALL_ENTITIES",
        "AsyncChanges",
        "AsyncClient",
        "AsyncDeletions",
        "ChangedRecord",
        "Changes",
        "Client",
        "Deletion",
        "Deletions",
        "EntityDigest",
        "SubscriberFilters",
        "SubscriptionFilters",
    ]
    assert all(hasattr(masthead.client, name) for name in masthead.client.__all__)


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="module 'masthead' has no attribute 'Clinet'"):
        getattr(masthead, "Clinet")  # noqa: B009 - a type checker knows it too


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_method_for_each_operation_and_few_others(client: type) -> None:
    """interface, Endpoints; the others are Masthead's own."""
    assert len(METHODS) == len(OPERATIONS)
    assert set(public(client)) == {*METHODS, *OWN, "close"}


@pytest.mark.parametrize(
    ("one", "other"), [(Client, AsyncClient), (Changes.__mro__[1], AsyncChanges.__mro__[1])]
)
def test_both_flavours_take_the_same(one: type, other: type) -> None:
    assert public(one).keys() == public(other).keys()
    for name, method in [*public(one).items(), ("__init__", vars(one)["__init__"])]:
        ours, theirs = (inspect.signature(found) for found in (method, vars(other)[name]))
        assert str(ours.replace(return_annotation="")) == str(theirs.replace(return_annotation=""))


def test_type_checkers_are_told_that_there_are_types() -> None:
    """PEP 561."""
    assert (files("masthead") / "py.typed").is_file()


def test_a_server_imports_no_client() -> None:
    program = (
        "import sys, masthead, masthead.api.app\n"
        "sys.exit(any(name in sys.modules for name in ('httpx2', 'tenacity', 'masthead.client')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
