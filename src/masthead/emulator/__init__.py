"""The emulator: a temporary publisher for tests of what uses the interface.

It serves the real app of ``masthead.api`` from a file that is gone when it ends, and is changed
while it runs through a control port: records, its clock, faults (decisions, "The emulator").

============  ======================================================================
publisher     the data, and the clock of all that serves them
defaults      what a new record has beside what was given
faults        what goes wrong, and the log of requests: a layer around the app
control       the control port: JSON in and out
serving       both servers in one process
remote        ``MastheadServer``: starts such a process, and uses its control port
values        the records that a test gives it, as JSON
============  ======================================================================
"""

from masthead.emulator.remote import MastheadServer

__all__ = ["MastheadServer"]
