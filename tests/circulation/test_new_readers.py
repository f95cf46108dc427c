"""``masthead order`` for a person who looks like an existing reader, and ``subscriber merge``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Store

OTTO = ("--first-name=Otto", "--last-name=Ost", "--address=5 A", "--city=Bath")


def test_who_looks_like_a_reader_is_said_before_it_is_saved(store: Store, tmp_path: Path) -> None:
    """decisions, "Who looks like a reader": a command refuses, and a file is loaded and says so."""
    url = store.new_database("new-readers")

    def run(*arguments: Any, exit_status: int = 0) -> list[str]:
        done = masthead(*arguments, "--account=1", database=url, exit_status=exit_status)
        return (done.stdout + done.stderr).splitlines()

    try:
        masthead("accounts", "add", "1", database=url)
        run("books", "open")
        run("catalogue", "publication", "add", "Tide")
        run("catalogue", "bundle", "add", "A year", "--line=1:12:Print:36")
        add = ("order", "add", "--bundle=1", "--paid", *OTTO)
        run(*add)
        who = "subscriber 1, Otto Ost, 5 A, Bath: subscription 1, Tide, Print, 12 issues left"
        refused = run(*add, exit_status=1)
        assert refused[0].startswith("Otto Ost looks like an existing reader")
        assert refused[1] == f"  same name and city: {who}"
        assert run(*add, "--dry-run")[1:3] == refused
        assert run(*add, "--new-reader")[0].startswith("order 2 of subscriber 2")
        file = tmp_path / "orders.csv"
        head = "external_reference,first_name,last_name,address,city,bundle_id\n"
        file.write_text(f"{head}W-1,Otto,Ost,9 A,Bath,1\nW-2,Ann,Ax,1 A,Bath,1\n")
        loaded = run("order", "import", file)
        assert loaded[1] == "new readers who look like existing ones: 1"
        assert loaded[2].startswith("orders.csv:2: subscriber_id: Otto Ost looks like subscriber 1")
        merged = run("subscriber", "merge", 2, "--into=1")
        into = "; subscription 2 is merged into subscription 1: Tide, Print, 24 issues left"
        assert into in merged[-1]
        shown = run("subscriber", "show", 1)
        assert any(line.endswith(", merged into subscription 1") for line in shown)
        apart = run("subscriber", "merge", 3, "--into=1", "--keep-both")
        assert apart[-1].endswith("; subscriptions 1 and 3 both go on: Tide, Print")
    finally:
        store.drop_database(url)
