"""The console: pages in a browser for the publisher's own people, in a process of its own."""
