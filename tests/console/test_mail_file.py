"""The mail file of an issue, which the console writes to a folder of temporary files."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from masthead import temporary
from tests.circulation.desk import at_desk
from tests.console.browser import input_values, serving_console
from tests.console.conftest import fill
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.servers import Store


@ON_SQLITE
def test_what_a_killed_console_leaves_of_a_mail_file_is_removed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Files that are mapped": its folder has a lock that ends with the process."""
    monkeypatch.setattr(temporary, "MEMORY", tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "masthead-pages-left"
    left.mkdir()
    (left / "lock").touch()
    (left / "issue-1.csv").write_text("Ada Reader")
    with at_desk(store) as desk:
        fill(desk)
        with serving_console(desk.store) as console:
            console.add("ada", "manager")
            browser = console.signed_in("ada")
            form = input_values(browser.post("/issues/1/close", {}).text)
            browser.post("/issues/1/close", {**form, "sure": "1"})
            response = browser.post("/issues/1/file", {"form": "csv", "list": ""})
            assert response.headers["content-disposition"].endswith('.csv"')
    assert response.content
    assert not [*tmp_path.glob("masthead-pages-*")]
