"""The pages of the documentation, and how their commands are run.

A page's ``sh``, ``console`` and ``python`` blocks run in their order, in one shell and one empty
folder. A ``text`` or ``json`` block right behind one is what it prints; ``…`` in it stands for
anything. Blocks of ``php`` are left to ``tests/system``, since PHP is not everywhere.
A line that starts a server leaves it running until the page ends.
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from tests.postgres import Port
from tests.servers import as_server

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGE_SECONDS_MAX = 540
"""Some pages run fifty commands, and a machine may be busy; pytest ends a test after 600 s."""

POSTGRESQL = "postgresql://masthead@localhost/masthead"
"""What pages call a PostgreSQL database."""

SERVED = as_server(POSTGRESQL)
"""What pages call it for its servers."""

LANGUAGES = ("sh", "console", "python")
_INTERPRETERS = {"python": "python -", "php": "php -n -d display_errors=stderr"}
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_DEMO = 'env MASTHEAD_DATABASE="sqlite:///$PWD/demo.db" make -C "$ROOT" demo'
_SERVER = re.compile(r"^(make demo|masthead (console|demo|emulator|serve)\b.*)$", re.MULTILINE)
_PRELUDE = """\
set -euo pipefail
server=
stop() {
    if [ -n "$server" ]; then kill "$server" && { wait "$server" || true; }; fi
    server=
}
trap stop EXIT
serve() {
    stop
    # A new one for each server, since the one before can have printed more than was read.
    rm -f ready
    mkfifo ready
    exec 3<> ready
    "$@" > ready 2> server.log &
    server=$!
    local line=
    until [[ $line == *'Masthead serves on'* || $line == *'console is on'* ]]; do
        read -r -t 180 -u 3 line || { cat server.log >&2; exit 1; }
    done
}
"""


class Block(NamedTuple):
    """A block of commands, and what the page says that it prints."""

    commands: str
    prints: str | None


def blocks_of(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of commands of a page, or those of other languages."""
    text = page.read_text()
    fences = list(_FENCE.finditer(text))
    blocks = []
    for fence, following in zip(fences, [*fences, None][1:], strict=True):
        language, commands = fence.groups()
        if language not in (languages or LANGUAGES):
            continue
        prints = None
        if following and not text[fence.end() : following.start()].strip():
            prints = following.group(2) if following.group(1) in {"text", "json"} else None
        if language in _INTERPRETERS:
            commands = f"{_INTERPRETERS[language]} <<'END'\n{commands}END\n"
        blocks.append(Block(commands, prints))
    return blocks


def run(blocks: list[Block], folder: Path, postgresql: str = POSTGRESQL) -> list[str]:
    """Run the blocks in ``folder``; return what each printed.

    Fails where a command does. A server ends when the next one starts. Ports 8000, 8001, 8002 and
    9464 of the pages become free ones, and the PostgreSQL database the one at the URL. Commands
    that would run this test again (`make test` and the like) are left out.
    """
    with ExitStack() as stack:
        taken = {
            number: stack.enter_context(closing(Port()))
            for number in ("8000", "8001", "8002", "9464")
        }
        ports = {number: str(port.number) for number, port in taken.items()}
        return _run(blocks, folder, postgresql, ports)


def _run(blocks: list[Block], folder: Path, postgresql: str, ports: dict[str, str]) -> list[str]:
    number_of = re.compile(rf"\b({'|'.join(ports)})\b")
    script = _PRELUDE
    for number, block in enumerate(blocks):
        commands = number_of.sub(lambda found: ports[found[0]], block.commands)
        commands = commands.replace(POSTGRESQL, postgresql)
        commands = commands.replace(SERVED, as_server(postgresql))
        commands = _SERVER.sub(r"serve \1", commands)
        commands = commands.replace("serve make demo", f"serve {_DEMO}")
        commands = re.sub(r"^make .*$", ":", commands, flags=re.MULTILINE)
        script += f"{{\n{commands}\n}} > block-{number}.out 2>&1\n"
    # Without the variables of the `make test` that runs this, which a page's `make` would take.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MASTHEAD_", "MAKE", "MFLAGS", "ARGS"))
    }
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "MASTHEAD_CONSOLE_PORT": ports["8002"],
        "MASTHEAD_CONTROL_PORT": ports["8001"],
        "MASTHEAD_PORT": ports["8000"],
        "ROOT": str(ROOT),
    }
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        try:
            _, said = process.communicate(timeout=PAGE_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its server too
            said = f"{process.communicate()[1]}\nit did not end within {PAGE_SECONDS_MAX} s"
    printed = [out.read_text() for out in _outputs(folder)]
    assert process.returncode == 0, "".join([*printed, said])
    return printed


def fits(said: str, printed: str) -> bool:
    """Tell whether what was printed is what a page says, where ``…`` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in said.strip().split("…"))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def _outputs(folder: Path) -> list[Path]:
    return sorted(folder.glob("block-*.out"), key=lambda path: int(path.stem.partition("-")[2]))
