"""One file for each operation, or group of operations, of the interface, and for each extension.

A handler is a plain function that takes a request and returns a response. Its file shows what
the operation adds to the common path of a request (``masthead.api.app``).
"""
