"""The console over a real socket, without a browser: who comes in, and what is refused."""
