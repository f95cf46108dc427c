"""The nginx of docs/paywall.md lets readers, and nobody else, in to a site that checks nothing."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import httpx2
import pytest
import uvicorn

from tests.docs.test_paywall import ANN, BEN, PAGE, emulator, site_app
from tests.postgres import Port
from tests.postgresql.service import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.applications import Starlette

    from masthead.emulator import MastheadServer

__all__ = ["emulator"]

NGINX = shutil.which("nginx")
(SERVER,) = re.findall(r"^```nginx\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
WHOLE = """
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {server}
}}
"""
SECONDS_MAX = 90

pytestmark = pytest.mark.skipif(NGINX is None, reason="needs nginx (Debian's package nginx)")


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def serving_small_site(app: Starlette, port: int) -> Iterator[None]:
    """The small site of the page, on a port."""
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_until(lambda: listens(port), SECONDS_MAX)
    yield
    server.should_exit = True
    thread.join()


@contextmanager
def serving_nginx(folder: Path, port: int, small_site: int) -> Iterator[None]:
    """The nginx of the page, on a port, before the files of a folder."""
    server = SERVER.replace("8080", str(port)).replace("8004", str(small_site))
    server = server.replace("/srv/site", str(folder / "site"))
    (folder / "nginx.conf").write_text(WHOLE.format(folder=folder, server=server))
    command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    with subprocess.Popen(command) as nginx:
        try:
            wait_until(lambda: listens(port), SECONDS_MAX)
            yield
        finally:
            nginx.kill()


@pytest.fixture
def visitor(
    emulator: MastheadServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[httpx2.Client]:
    """A browser at an nginx before a folder with an article."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "tides.html").write_text("All about tides.")
    with (
        closing(Port()) as port,
        closing(Port()) as small_site,
        serving_small_site(site_app(emulator, monkeypatch), small_site.number),
        serving_nginx(tmp_path, port.number, small_site.number),
        httpx2.Client(base_url=f"http://127.0.0.1:{port.number}") as client,
    ):
        yield client


def test_a_reader_gets_in_and_others_see_the_form(
    visitor: httpx2.Client, emulator: MastheadServer
) -> None:
    for login in ({}, {**ANN, "password": "a guess"}, BEN):
        visitor.cookies.clear()
        visitor.post("/sign-in", data=login)
        stopped = visitor.get("/tides.html")
        assert (stopped.status_code, "The first lines." in stopped.text) == (402, True)
        assert visitor.get("/may-read").status_code == 404
    assert visitor.post("/sign-in", data=ANN).status_code == 303
    read = visitor.get("/tides.html")
    assert (read.status_code, read.text) == (200, "All about tides.")
    assert read.headers["Cache-Control"] == "private"
    emulator.faults.respond(503, requests=20)
    assert visitor.get("/tides.html").text == "All about tides."
    emulator.faults.clear()
