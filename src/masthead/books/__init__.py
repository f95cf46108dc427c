"""The operations of the books: each is one call, the same for the console, a command and a file.

``orders.place(books, order)`` opens the transaction, applies the rules, writes the rows, updates
the derived values, writes the audit entry, and returns what it did with a sentence. The modules
also read, as typed records. ``books`` is a :class:`Books`: the account, and the person who works.

A front end maps its input to an operation's arguments and shows the outcome. The statements are in
``store.books``, the rules in ``circulation``.
"""

from masthead.books.account import Books, Outcome

__all__ = ["Books", "Outcome"]
