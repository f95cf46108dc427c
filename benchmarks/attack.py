"""Two well-known tools against a server with made-up data: sqlmap and slowhttptest.

``python -m benchmarks.attack``: prints what each of them found, and fails where one found something
or where the server was not there for others meanwhile. Both are packages of Debian.
"""

import argparse
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import STORES, fresh, place, stores_in
from benchmarks.processes import serving
from benchmarks.publisher import KEY, LOGIN, fill, make_files

PROGRAMS = ("sqlmap", "slowhttptest")
RUN_S_MAX = 900
SECONDS = 30
ASKED = (
    "/2/subscribers/?email=a&first_name=b&last_name=c&renewal_code=d&source=e&limit=5&after=1",
    "/2/subscriptions/?type=Print&copies=1&publication_id=1&subscriber_id=1&campaign_active=true",
    "/2/subscribers/authenticate/?login=a&password=b",
    "/2/cdc?entities=orders&changed_since=2026-01-01",
    "/2/orders/1*",
)
_SLOW = ("-c", "500", "-r", "200", "-l", str(SECONDS), "-i", "5", "-p", "1")
SLOW = {
    "slow heads": ("-H", *_SLOW, "-u", "{url}/2/accounts/"),
    "slow bodies": ("-B", *_SLOW, "-t", "GET", "-u", "{url}/2/accounts/"),
    "slow reading": ("-X", *_SLOW, "-w", "8", "-y", "16", "-n", "5", "-k", "8", "-u", "{url}/docs"),
}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def injected(url: str, folder: Path) -> Iterator[tuple[str, bool, str]]:
    """Yield for each path whether sqlmap finds nothing, and what it says in the end."""
    for path in ASKED:
        command = [
            *("sqlmap", "-u", url + path, "--batch", "--flush-session", "--disable-coloring"),
            *("--auth-type", "Basic", "--auth-cred", f"{KEY}:{LOGIN}", "--threads", "4"),
            *("--output-dir", str(folder), "--ignore-code", "*", "--level", "3", "--risk", "2"),
        ]
        said = _said(command)
        faults = re.search(r"\(5\d\d [^)]*\) - (\d+) times", said)
        is_safe = "do not appear to be injectable" in said and not faults
        yield f"sqlmap {path}", is_safe, faults[0] if faults else _last(said, "injectable")


def slowed(url: str) -> Iterator[tuple[str, bool, str]]:
    """Yield for each kind of slowness whether slowhttptest finds the server there to its end."""
    for title, options in SLOW.items():
        said = _said(["slowhttptest", *(option.format(url=url) for option in options)])
        found = re.findall(r"service available:\s+(YES|NO)", said)
        # What is told before the first probe has come back says nothing.
        is_there = "NO" not in found[1:] and "YES" in found
        yield f"slowhttptest, {title}", is_there, _last(said, "Exit status")


def _said(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=RUN_S_MAX, check=False, errors="replace"
    )
    return _COLOUR.sub("", done.stdout + done.stderr)


def _last(said: str, word: str) -> str:
    lines = [line.strip() for line in said.splitlines() if word in line]
    return lines[-1] if lines else said.strip()[-200:]


def main() -> None:
    """Attack, and print what was found; exit with 1 where something was, or a tool is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    given = parser.parse_args()
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        raise SystemExit(f"missing: {', '.join(missing)} (packages of Debian, by these names)")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    is_fine = True
    for store in given.stores:
        with TemporaryDirectory() as name, ExitStack() as stack:
            folder = Path(name)
            make_files(folder / "files", 2_000)
            database = stack.enter_context(fresh(stack.enter_context(place(store)), "attack"))
            fill(database, folder / "files")
            server = stack.enter_context(serving(database, folder / "log"))
            url = f"http://127.0.0.1:{server.port}"
            for of in (injected(url, folder / "sqlmap"), slowed(url)):
                for title, is_safe, said in of:
                    print(f"{STORES[store]}, {title}: {'fine' if is_safe else 'FOUND'}: {said}")
                    sys.stdout.flush()
                    is_fine = is_fine and is_safe
            log = (folder / "log").read_text()
            faults = log.count("level='error'")
            print(f"{STORES[store]}: {log.count(' status=')} requests, {faults} errors in the log")
            is_fine = is_fine and not faults
    if not is_fine:
        sys.exit("something was found")


if __name__ == "__main__":
    main()
