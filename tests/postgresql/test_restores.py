"""A database that PostgreSQL's own tools restore, and the list of the erased that it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.loading.person import PERSON, WORD
from tests.postgresql.service import empty_database, new_database
from tests.servers import import_files, masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres import Cluster

WHOM = ("--account=1", "--subscriber=1")


def test_the_latest_list_erases_again_what_a_dump_brings_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    """rules, "Restored backups: the erased": also whom only the next load brings back."""
    database, restored = new_database(cluster, "old"), empty_database(cluster, "new")
    masthead("accounts", "add", 1, database=database)
    folder = tmp_path / "night"
    folder.mkdir()
    for name, content in PERSON.items():
        (folder / name).write_text(content, encoding="utf-8")
    import_files(folder, account_id="1", database=database)
    cluster.run_client("pg_dump", "--format=custom", f"--file={tmp_path / 'dump'}", database)

    (folder / "subscribers.csv").write_text(
        PERSON["subscribers.csv"] + f"3,,cy@{WORD}.example,,,,\n", encoding="utf-8"
    )
    import_files(folder, account_id="1", database=database)
    for subscriber_id in (1, 3):
        masthead(
            "erase", "--account=1", f"--subscriber={subscriber_id}", "--yes", database=database
        )
    masthead("export", tmp_path / "copy", "--account=1", database=database)

    cluster.run_client("pg_restore", f"--dbname={restored}", tmp_path / "dump")
    masthead("feed", "new-epoch", database=restored)
    assert WORD in masthead("subscriber-data", *WHOM, database=restored).stdout
    said = import_files(tmp_path / "copy" / "erasures.csv", account_id="1", database=restored)
    assert "erasures              2 inserted" in said
    assert WORD not in masthead("subscriber-data", *WHOM, database=restored).stdout
    said = import_files(folder, account_id="1", database=restored)
    assert "11 rows of erased subscribers kept blank" in said
    masthead("export", tmp_path / "again", "--account=1", database=restored)
    for path in (tmp_path / "again").iterdir():
        assert WORD not in path.read_text(encoding="utf-8")
