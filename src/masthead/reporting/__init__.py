"""The reports of circulation: asked of the books, and written as CSV and plots.

The commands print them, the console shows them. What they count is in ``store.books``, how it is
made into tables and charts in ``circulation``.
"""
