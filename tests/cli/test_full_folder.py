"""A full folder of temporary files: responses fail with 503 at most, and no process ends.

The numbers of several workers are in files that are mapped into memory. A page of such a file that
the disk has no room for would kill the process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead import temporary
from masthead.api.app import create_app
from masthead.api.http.log_reasons import _BY_STATUS
from masthead.api.http.metrics import FILES
from masthead.settings import ServerSettings
from tests.cli.running import address_of, lines_until, running, workers_of
from tests.long import ONLY_LONG
from tests.servers import MASTHEAD, STOP_SECONDS_MAX, Store, as_server, serving
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUSES = {200, 499, 500, 503, *_BY_STATUS}
SMALL_MIB, LITTLE_MIB = 32, 4
WORKERS = ("serve", "--port=0", "--workers=2", "--metrics-port=0", "--rate-limit=1000")
PATHS = ("/health", "/2/orders/1", "/2/accounts/", "/2/customfields/", "/nowhere", "/2/cdc")


def in_small_folders(folder: Path) -> list[str]:
    """Return a command that runs the rest with small file systems; skip where none can be made.

    One is the folder of temporary files, the other, in memory, has too little room for anything.
    """
    script = (
        f"mount -t tmpfs -o size={SMALL_MIB}m none {folder} && "
        f'mount -t tmpfs -o size={LITTLE_MIB}m none {temporary.MEMORY} && exec "$@"'
    )
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", script, "sh"]
    try:
        done = subprocess.run([*command, "true"], check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if done.returncode:
        pytest.skip("needs mount namespaces")
    return command


def folder_of(process_id: int) -> str | None:
    """Return the folder of the files that a worker has mapped, None if there is none."""
    maps = Path(f"/proc/{process_id}/maps").read_text()
    found = re.search(r"/\S+/masthead-server-[^/]+/", maps)
    return found[0] if found else None


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is not in memory, where the small file system would hide it."""
    with tempfile.TemporaryDirectory() as found:
        yield Path(found)


@ON_SQLITE
def test_a_full_folder_ends_no_worker(account: str, folder: Path) -> None:
    """rules, "Files that are mapped"; security, "Faults"."""
    small = folder / "temporary"
    small.mkdir()
    database = Store("sqlite", folder).copy_database(account, "full-folder")
    command = [*in_small_folders(small), *MASTHEAD]
    settings = {"TMPDIR": str(small)}
    with running(*WORKERS, database=database, settings=settings, command=command) as process:
        address = address_of(process)
        before = workers_of(process.pid)
        # The folder as the processes see it.
        inside = Path(f"/proc/{process.pid}/root{small}", "full")
        with inside.open("wb", buffering=0) as full, suppress(OSError):
            while full.write(bytes(65_536)):
                pass
        url = f"http://{address[0]}:{address[1]}"
        statuses = set()
        for path in PATHS * 4:
            # A connection each, so that either worker has some.
            for auth in (("key", "login"), ("key", "wrong")):
                statuses.add(httpx2.get(url + path, auth=auth).status_code)
        assert statuses <= {200, 400, 403, 404, 503}
        assert statuses >= {200, 403, 404}
        assert workers_of(process.pid) == before
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0
        assert "a worker died" not in process.stdout.read()


@ONLY_LONG
@ON_SQLITE
def test_the_files_that_workers_map_have_all_their_space_before(account: str) -> None:
    """rules, "Files that are mapped"."""
    with serving(account, *WORKERS[2:]) as server:
        folders = {folder_of(worker) for worker in workers_of(server.process_id)}
        (folder,) = folders
        assert folder
        found = {path.name: path.stat() for path in Path(folder).glob("*.db")}
        assert len(found) == 2 * len(FILES)
        for name, file in found.items():
            assert file.st_size == FILES[name.partition("_")[0]]
            assert file.st_blocks * 512 >= file.st_size
    with serving(account, "--workers=2") as server:
        for worker in workers_of(server.process_id):
            assert folder_of(worker) is None


@ON_SQLITE
def test_all_numbers_that_there_can_be_fit_in_the_files(account: str, tmp_path: Path) -> None:
    """Else a file would grow, by pages that the disk may have no room for."""
    app = create_app(ServerSettings(database=as_server(account)))
    app.service.store.close()
    routes = [*app._routes._constant.values(), *app._routes._with_id.values()]
    names = sorted({route.name for route in routes} | {"none"})
    program = (
        "from masthead.api.http import metrics\n"
        "from masthead.contract.operations import ENTITIES\n"
        f"for name in {names}:\n"
        f"    for status in {sorted(STATUSES)}: metrics.count_request(name, status, 0.1)\n"
        "for entity in ENTITIES: metrics.count_feed_rows(entity.name, 1)\n"
        "for result in ('authenticated', 'refused', 'limited'): metrics.count_login_check(result)\n"
    )
    count(program, tmp_path)
    sizes = {path.name.partition("_")[0]: path.stat().st_size for path in tmp_path.glob("*.db")}
    assert sizes == FILES


def count(program: str, folder: Path, first: str = "") -> str:
    """Run a program as a worker that counts in the folder; return what it prints."""
    return subprocess.run(
        [sys.executable, "-c", first + program],
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_a_worker_whose_files_cannot_be_written_counts_for_itself(tmp_path: Path) -> None:
    """rules, "Files that are mapped"."""
    first = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    program = (
        "from masthead.api.http import metrics\n"
        "metrics.count_request('orders', 200, 0.1)\n"
        "print(metrics.numbers_missing())\n"
    )
    assert "File too large" in count(program, tmp_path, first)
    assert not [*tmp_path.iterdir()]
    assert count(program, tmp_path) == "None\n"


@ONLY_LONG
@ON_SQLITE
def test_the_folder_of_a_killed_server_is_removed_by_the_next_one(
    account: str, tmp_path: Path
) -> None:
    """rules, "Files that are mapped"."""
    settings = {"TMPDIR": str(tmp_path)}
    with running(*WORKERS, database=account, settings=settings) as process:
        address_of(process)
        folder = Path(folder_of(max(workers_of(process.pid))) or "")
        process.kill()
        process.wait()
        process.stdout.read()
    assert folder.exists()
    with running(*WORKERS, database=account, settings=settings) as process:
        lines_until(process, "Masthead serves on")
        assert not folder.exists()
