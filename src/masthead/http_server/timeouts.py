"""Timeouts in seconds (rules, "Requests that come slowly" and the like)."""

import socket

REQUEST_S_MAX = 20
"""Deadline of the last byte of a request, counted from its first byte or its connection."""

STALL_S_MAX = 60
"""Time without acknowledgement from the client after which the connection is closed."""


def close_stalled(listener: socket.socket) -> None:
    """Let Linux close the socket's connections whose client acknowledges no data for so long."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALL_S_MAX * 1_000)
