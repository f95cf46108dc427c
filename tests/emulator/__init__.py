"""The emulator, over its two sockets."""
