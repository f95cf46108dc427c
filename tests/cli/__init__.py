"""The command line, as an operator meets it: processes, exit statuses, what they print."""
