"""The emulator: a temporary publisher for tests of programs that use the interface.

It serves the real app of ``masthead.api`` from a file that is deleted at the end. A control port
changes it while it runs: records, its clock, faults (decisions, "The emulator").

============  ======================================================================
publisher     the data, and the clock that all servers share
defaults      the default columns of a new record
base_set      a small publisher for a first test: ``BaseSet`` names its subscribers
faults        faults and the log of requests: a layer around the app
protocol      the server's protocol, which can reset a connection
control       the control port: JSON in and out
serving       both servers in one process
remote        ``MastheadServer``: starts such a process, and uses its control port
values        a test's records as JSON
============  ======================================================================
"""

from masthead.emulator.base_set import BaseSet
from masthead.emulator.remote import MastheadServer

__all__ = ["BaseSet", "MastheadServer"]
