"""Tests with programs that Debian brings: a browser and PHP (``make test-system``)."""
