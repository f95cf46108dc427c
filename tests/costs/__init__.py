"""A guard without a clock: what a request of each operation costs, in counts.

The real server answers over a socket, and counts (``counting.py``); on PostgreSQL somebody listens
on the way to the database (``listening.py``). The counts are the same on a fast machine and on a
slow one, alone or beside others, so that a change which makes an operation slow fails here and not
in a benchmark that is seldom run. A test shows one request; ``limits.py`` is the table of them all.

How to read a failure:

- *Other statements than there were*: they are listed. One more for each request is a price that all
  callers pay; if it must be, the number changes in the same commit, which says what for.
- *More visited*: an index is gone or no longer used, or more rows are read than the response needs.
  ``tests/store/test_plans*.py`` show the plans themselves.
- *More in a large account*: the request walks what it should look up. This is the one that a
  benchmark over little data never shows.
- *More calls*: there is more Python on the way of a request. Where a library or a new version of
  Python makes them, say so in the commit that raises the number; where it is our code, a number is
  raised only for what the calls are worth.
- *More memory in use*: something remembers each request.

A number that has become smaller is lowered at once: else the next change has it to waste.

Counted is a request on a connection of its own, from its arrival until the next one comes: what
the server does behind its response belongs to it.
"""
