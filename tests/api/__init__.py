"""The wire form, judged from outside: a real server, a real socket, answers typed by hand."""
