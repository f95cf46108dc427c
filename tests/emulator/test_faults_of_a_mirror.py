"""Each fault, as a mirror of the emulator sees it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from masthead.errors import ServiceUnreachable, UnexpectedResponse
from tests.emulator.test_faults import AT_ONCE, filled
from tests.mirror.kept import Kept
from tests.servers import run

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.emulator import MastheadServer

FAULTS: dict[str, dict[str, object]] = {
    "respond": {"status": 503},
    "slow": {"bytes_per_second": 4_000},
    "cut-after": {"bytes": 30},
    "reset-connection": {"bytes": 30},
    "malformed": {},
}


class Source:
    """The emulator as the mirror's tests name a service."""

    def __init__(self, server: MastheadServer) -> None:
        self.url = server.base_url
        self.key, self.login = server.credentials


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        *product(
            ("respond", "cut-after", "slow"),
            ("/snapshot", "/2/cdc", "/deletions", "/2/customfields"),
        ),
        ("malformed", "/snapshot"),
        ("malformed", "/2/cdc"),
        ("reset-connection", "/2/cdc"),
    ],
)
def test_the_mirror_recovers_from_each_fault_of_each_answer(
    server: MastheadServer, tmp_path: Path, fault: str, path: str
) -> None:
    filled(server)
    kept = Kept(f"sqlite:///{tmp_path}/copy.db")
    source = Source(server)
    if path != "/snapshot":
        kept.update(source)
        server.change("subscribers", {"subscriber_id": 1, "first_name": "Ann"})
        server.remove("orders", 1)
    before = kept.everything() if path != "/snapshot" else None
    server.ask("POST", f"/faults/{fault}", {**FAULTS[fault], "path": path})
    if fault == "slow":
        kept.update(source)
    else:
        with pytest.raises(UnexpectedResponse if fault == "malformed" else ServiceUnreachable):
            kept.update(source)
        if before:
            assert kept.everything() == before
        kept.update(source)
    assert fault in [each.fault for each in server.requests]
    assert not kept.differences(source)


def test_the_command_of_the_mirror_waits_for_a_service_that_is_unavailable(
    server: MastheadServer, tmp_path: Path
) -> None:
    filled(server)
    server.faults.respond(503, headers=AT_ONCE, requests=2)
    server.faults.cut_after(10)
    copy = f"sqlite:///{tmp_path}/copy.db"
    key, login = server.credentials
    keys = {"MASTHEAD_API_KEY": key, "MASTHEAD_API_LOGIN": login}
    done = run("mirror", server.base_url, "--to", copy, "--once", database="", settings=keys)
    assert done.returncode == 0, done.stderr
    assert [each.fault for each in server.requests][:3] == [
        "respond",
        "respond",
        "cut-after",
    ]
    assert not Kept(copy).differences(Source(server))


def test_the_mirror_loads_everything_after_a_new_epoch(
    server: MastheadServer, tmp_path: Path
) -> None:
    filled(server)
    kept = Kept(f"sqlite:///{tmp_path}/copy.db")
    kept.update(Source(server))
    server.faults.new_epoch()
    server.remove("orders", 1)
    assert kept.update(Source(server)).full_load
    assert not kept.differences(Source(server))
