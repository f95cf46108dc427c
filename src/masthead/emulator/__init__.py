"""The emulator: a temporary publisher for tests of programs that use the interface.

It serves the real app of ``masthead.api`` from a file that is deleted at the end. A control port
changes it while it runs: records, its clock, faults (decisions, "The emulator").

============  ======================================================================
publisher     the data, and the clock that all servers share
defaults      the default columns of a new record
faults        faults and the log of requests: a layer around the app
control       the control port: JSON in and out
serving       both servers in one process
remote        ``MastheadServer``: starts such a process, and uses its control port
values        a test's records as JSON
============  ======================================================================
"""

from masthead.emulator.remote import MastheadServer

__all__ = ["MastheadServer"]
