"""What `make release` has built, looked at and tried as those who get it would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from typing import TYPE_CHECKING, NamedTuple

from packaging.utils import canonicalize_name

from tests.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BUILT = ROOT / ".venv" / "release"
LOCK = ROOT / "requirements" / "runtime.txt"
SECONDS_MAX = 1_500


class Release(NamedTuple):
    """The two files of a release."""

    wheel: Path
    sdist: Path


class Environment(NamedTuple):
    """A virtual environment: its folder, and the empty folder in which its programs run."""

    folder: Path
    work: Path

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a program of the environment; its output is a pipe, errors.log has its errors."""
        with (self.work / "errors.log").open("w") as errors:
            return subprocess.Popen(
                self._command(words),
                cwd=self.work,
                env=self.variables(),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def run(
        self, *words: str, text: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment to its end, with ``text`` as its input."""
        return subprocess.run(
            self._command(words),
            cwd=self.work,
            env=self.variables() | variables,
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    def pip(self, *words: str) -> str:
        """Run pip for the environment, which has none of its own; return what it printed."""
        python = str(self.folder / "bin" / "python")
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", python, *words],
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def packages(self) -> set[str]:
        """Return the names of the installed packages."""
        lines = self.pip("list", "--format", "freeze").splitlines()
        return {canonicalize_name(line.partition("==")[0]) for line in lines}

    def variables(self) -> dict[str, str]:
        """Return the variables of this process but for those that lead Python out of it."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MASTHEAD_", "PYTHON", "MAKE", "MFLAGS", "SSL_CERT_"))
        }
        return kept | {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def _command(self, words: tuple[str, ...]) -> list[str]:
        return [str(self.folder / "bin" / words[0]), *words[1:]]


def installed(folder: Path, wanted: str) -> Environment:
    """Return a new environment with a wheel, and an extra of it if its path ends in ``[extra]``.

    What else that brings, the metadata of the wheel say; the versions are those of the lock file.
    """
    environment = Environment(folder / "venv", folder / "work")
    environment.work.mkdir()
    venv.create(environment.folder)
    pins = re.findall(r"^([\w.-]+==[^\\\n]+)\\$", LOCK.read_text(), re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(f"{pin}\n" for pin in pins))
    options = ("--quiet", "--no-compile", "--only-binary", ":all:", "--constraint")
    environment.pip("install", *options, str(constraints), wanted)
    environment.pip("check")
    return environment
