"""The checker: compares any service of the interface with the interface, by reading alone.

It knows the service only by its interface. The checks are in ``checks``, one module for each
group; ``service`` has what they share, ``forms`` compares records with the tables, ``reading`` JSON
with RFC 8259, and ``asking`` sends the requests.
"""

from masthead.checker.findings import Finding
from masthead.checker.running import CHECKS, Report, check, section_of, title_of

__all__ = ["CHECKS", "Finding", "Report", "check", "section_of", "title_of"]
