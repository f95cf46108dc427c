"""A child process that makes PDFs: ``python -m masthead.documents.worker FOLDER LOOK``.

It reads documents from its standard input and writes their PDFs to its standard output, each as a
frame: a byte that says what it is, four bytes with the length, and the content. It ends with its
input. It limits its own memory, and its processor time for each document, so that a template that
never ends does not outlive its parent.
"""

import os
import resource
import sys
from pathlib import Path
from typing import BinaryIO

from masthead.documents.compiling import Compiler
from masthead.documents.document_data import data_of
from masthead.documents.frames import FAILED, MADE, READY, read_frame, write_frame
from masthead.documents.kinds import read_asked
from masthead.documents.words import Look
from masthead.errors import BadInput


def main() -> None:
    """Serve the parent until it closes the pipe."""
    folder, colour, logo, memory, seconds = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Typst names files by the way from here.
    os.chdir(folder)
    # What a library prints must not come between the frames.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    compiler = Compiler(Path(folder))
    write_frame(out, READY, b"")
    _serve(sys.stdin.buffer, out, compiler, Look(colour, logo), int(seconds))


def _serve(input_: BinaryIO, out: BinaryIO, compiler: Compiler, look: Look, seconds: int) -> None:
    while (frame := read_frame(input_)) is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        try:
            template, documents = read_asked(frame[1])
            pdf = compiler.pdf(template, [data_of(each, look) for each in documents])
        except BadInput as error:
            write_frame(out, FAILED, str(error).encode())
        except MemoryError:
            os._exit(1)
        else:
            write_frame(out, MADE, pdf)


if __name__ == "__main__":
    main()
