"""The console: browser pages for the publisher's staff, served by their own process."""
