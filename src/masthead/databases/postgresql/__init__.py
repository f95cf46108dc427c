"""PostgreSQL: sessions, statements and transactions, and what their callers wait on.

=================  ===========================================================================
``session.py``     a session: psycopg's connection, whose ``exchange`` sends all statements of a
                   transaction in one message, and reads their results
``connection.py``  ``databases.connection``, implemented with a session; the errors
``pool.py``        sessions for threads
``greenlets.py``   functions that wait on an event loop without blocking it
``loop_pool.py``   sessions for these functions
=================  ===========================================================================

The same functions run in threads and on the event loop of a server. Only the wait differs:

=============  ======================  =========================  ============================
caller         session                 waits on                   until
=============  ======================  =========================  ============================
a command      ``connect``, its own    the socket                 the server answers
a thread       ``Pool``                the socket, by ``poll``    the server has been silent for
                                                                  ``silence_s_max`` seconds
a greenlet     ``LoopPool``            the event loop, which      the deadline of the request
                                       watches the socket
=============  ======================  =========================  ============================

Each caller also waits for a session if all are in use: a thread for a second, a greenlet until its
deadline. When a wait ends too early, the session is closed, since the server's next message is
unknown. The request then gets 503.

A greenlet is a function with a stack of its own. It runs in the thread of the event loop. When it
has to wait, ``suspend`` switches to the event loop, which handles other requests. When the server
has answered, the loop switches back, and the function continues as if ``suspend`` had returned. So
queries are written once, as ordinary functions, and one thread runs many of them at a time.

Requests could run in threads instead, without ``greenlets.py`` and ``loop_pool.py``. The server
would then need a third more processor time for an order (decisions, "Requests to PostgreSQL in
threads").

Nothing is imported here: psycopg takes longer to import than many commands run.
"""
