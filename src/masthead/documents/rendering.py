"""Makes PDFs of documents in child processes, which have limits of time and memory.

A template is a program of the publisher's. It can read only the folder of the templates, and what
never ends is stopped with a sentence. Typst and what else the extra ``billing`` brings are loaded
only in the children.
"""

import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from signal import SIGABRT, SIGXCPU
from tempfile import TemporaryFile
from typing import IO, NamedTuple, Self

from masthead.documents import frames
from masthead.documents.kinds import Printed, asked, name_of, pages_of
from masthead.documents.template_files import copy_templates
from masthead.errors import BadInput, MastheadError
from masthead.temporary import own_folder

LETTERS_AT_ONCE = 100
"""How many letters a PDF has (decisions, "Many letters in one PDF")."""

_PAGES_TOGETHER = 400
"""After so many pages in large PDFs a child ends, and another one takes its place.

Typst keeps what its last ten documents had, about 1 MB for a page."""

_NEEDED = ("babel", "segno", "typst")
_PROCESSES_MAX = 8
_PREFIX = "masthead-documents-"
_ROOM = 16 << 20
_CHUNK = 1 << 16
_START_SECONDS = 60


class Limits(NamedTuple):
    """The most that one document may take: seconds, and bytes of memory of its process."""

    seconds: int = 60
    memory: int = 1 << 30


class Appearance(NamedTuple):
    """How documents look, as the account's settings say it.

    ``logo`` is the ending of its file (png, jpeg or svg) and its bytes. ``templates`` is the folder
    with the publisher's own templates; files that it lacks are those that come with Masthead.
    """

    colour: str = "#1f3a5f"
    logo: tuple[str, bytes] | None = None
    templates: Path | None = None


class Renderer(AbstractContextManager["Renderer"]):
    """Makes PDFs until it is closed. The same document with the same templates gets the same bytes.

    The templates are read once, when it opens. ``processes`` is the number of children, by default
    one; ``many()`` returns how many this machine can use.
    """

    def __init__(
        self, appearance: Appearance, *, processes: int = 1, limits: Limits | None = None
    ) -> None:
        """Raises BadInput if the folder of templates cannot be used, or packages are missing."""
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise BadInput(
                f"documents need {missing[0]}, which is not installed here",
                code="needs_billing_packages",
            )
        self._templates = appearance.templates
        self._limits = limits or Limits()
        self._open = ExitStack()
        with ExitStack() as opening:
            folder = opening.enter_context(own_folder(_PREFIX, needed=_ROOM))
            copy_templates(appearance.templates, folder / "templates")
            logo = ""
            if appearance.logo:
                ending, content = appearance.logo
                logo = f"/masthead-logo.{ending}"
                (folder / f"templates{logo}").write_bytes(content)
            self._arguments = (str(folder / "templates"), appearance.colour, logo)
            self._idle: SimpleQueue[_Child | None] = SimpleQueue()
            for _ in range(processes):
                self._idle.put(None)
            self._processes = processes
            opening.callback(self._end)
            self._open = opening.pop_all()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the children and remove the copy of the templates."""
        self._open.close()

    def _end(self) -> None:
        for _ in range(self._processes):
            child = self._idle.get()
            if child:
                child.end()

    def pdf(self, printed: Printed) -> bytes:
        """Return the PDF of a document; that of an invoice has the electronic invoice inside.

        Raises BadInput for an error of a template, with its file and line, and if the limits do not
        suffice.
        """
        return self.together([printed])

    def pdfs(self, documents: Iterable[Printed]) -> Iterator[bytes]:
        """Yield the PDFs of documents in their order, as ``pdf`` makes each; only a few wait."""
        return self.parts([printed] for printed in documents)

    def together(self, documents: Sequence[Printed]) -> bytes:
        """Return one PDF of documents of the same template, as ``pdf`` makes one.

        The limits are for all of them. Invoices stand alone, since each PDF has one electronic
        invoice.
        """
        child = self._idle.get()
        try:
            child = child or _Child(self._arguments, self._limits)
            answer = child.ask(asked(documents), self._limits.seconds)
            if isinstance(answer, _Ended):
                child = None
                raise self._why_ended(name_of(documents), answer)
            child.together += pages_of(documents)
            if child.together >= _PAGES_TOGETHER:
                child.end()
                child = None
        finally:
            self._idle.put(child)
        kind, content = answer
        if kind == frames.FAILED:
            raise BadInput(self._placed(content.decode()))
        return content

    def parts(self, parts: Iterable[Sequence[Printed]]) -> Iterator[bytes]:
        """Yield a PDF for each part, in their order, as ``together`` makes it; only a few wait."""
        waiting: deque[Future[bytes]] = deque()
        with ThreadPoolExecutor(self._processes) as threads:
            try:
                for part in parts:
                    waiting.append(threads.submit(self.together, part))
                    if len(waiting) > 4 * self._processes:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for each in waiting:
                    each.cancel()

    def _placed(self, sentence: str) -> str:
        """Return a sentence with the whole path of the publisher's own template that it names."""
        name = sentence.partition(", line ")[0]
        own = self._templates and self._templates / name
        return f"{own}{sentence.removeprefix(name)}" if own and own.is_file() else sentence

    def _why_ended(self, name: str, ended: "_Ended") -> MastheadError:
        seconds, memory = self._limits
        where = f" in {self._templates}" if self._templates else ""
        if ended.status in {None, -SIGXCPU}:
            return BadInput(
                f"the document {name} was not made within {seconds} seconds: a template"
                f"{where} may have pages without end"
            )
        if ended.status == -SIGABRT or "MemoryError" in ended.said:
            return BadInput(
                f"the document {name} needs more than {memory >> 20} MiB of memory: a "
                f"template{where} may have pages without end"
            )
        return MastheadError(
            f"the process that makes documents ended with {ended.status} at {name}: "
            f"{ended.said or 'it said nothing'}"
        )


class _Ended(NamedTuple):
    """How a child ended before it answered: its status, None if it took too long; its last line."""

    status: int | None
    said: str


class _Child:
    """A process that makes one document at a time (``worker``)."""

    def __init__(self, arguments: tuple[str, ...], limits: Limits) -> None:
        self._is_ready = False
        self.together = 0
        """How many pages it has made that share a PDF with others."""
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - open while the process runs
        self._process = subprocess.Popen(  # noqa: S603 - this Python, with its own options
            [
                *(sys.executable, "-P", "-m", "masthead.documents.worker", *arguments),
                *(str(limits.memory), str(limits.seconds)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Ctrl-C in the terminal is for the parent, which ends its children.
            process_group=0,
            env=_environment(),
        )

    def ask(self, content: bytes, seconds: float) -> tuple[bytes, bytes] | _Ended:
        """Return the frame that answers documents, or how the process ended instead.

        The start of the process is not counted.
        """
        assert self._process.stdin
        if not self._is_ready:
            self._is_ready = bool(self._read(time.monotonic() + _START_SECONDS))
        with suppress(BrokenPipeError):
            frames.write_frame(self._process.stdin, frames.ASKED, content)
        answer = self._read(time.monotonic() + seconds)
        if answer is not None and len(answer) >= frames.HEAD_BYTES:
            return frames.frame_of(answer)
        status = None if answer is None else self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        said = [line for line in lines if line.strip()]
        self.end()
        return _Ended(status, said[-1] if said else "")

    def _read(self, until: float) -> bytes | None:
        """Return a whole frame, or less if the process ends; None if it takes too long."""
        assert self._process.stdout
        file = self._process.stdout.fileno()
        got = bytearray()
        while frames.missing(got):
            left = until - time.monotonic()
            if left <= 0 or not select.select([file], [], [], left)[0]:
                return None
            chunk = os.read(file, max(_CHUNK, frames.missing(got)))
            if not chunk:
                return b""
            got += chunk
        return bytes(got)

    def end(self) -> None:
        """Kill the process, and wait until it has ended."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._process.wait()
        self._errors.close()


def in_parts(documents: Iterable[Printed], size: int = LETTERS_AT_ONCE) -> Iterator[list[Printed]]:
    """Yield the documents of one PDF after those of the other, in their order; none is empty."""
    rest = iter(documents)
    while part := [*islice(rest, size)]:
        yield part


def many() -> int:
    """Return how many processes this machine can use for documents: one for each processor."""
    return min(len(os.sched_getaffinity(0)), _PROCESSES_MAX)


def _environment() -> dict[str, str]:
    """Return the environment of a child: no settings, no network, and one thread."""
    kept = {name: v for name, v in os.environ.items() if not name.startswith("MASTHEAD_")}
    nowhere = "http://127.0.0.1:9"
    return kept | {
        **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), nowhere),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
        "RAYON_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
