"""The circulation reports: read from the books, written as CSV files and plots.

The commands print them and the console shows them. ``store.books`` has the figures;
``circulation`` makes tables and charts from them.
"""
