"""The checker: compares any service with the interface, using only requests that read.

It knows the service only by its interface. ``checks`` has the checks, one module for each group.
``service`` has what they share, ``forms`` compares records with the interface's tables,
``reading`` compares JSON with RFC 8259, and ``asking`` sends the requests.
"""

from masthead.checker.findings import Finding
from masthead.checker.running import CHECKS, Report, check, section_of, title_of

__all__ = ["CHECKS", "Finding", "Report", "check", "section_of", "title_of"]
