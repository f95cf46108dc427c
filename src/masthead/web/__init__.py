"""What the console and the readers' pages share: forms, sessions' tokens, turns and the server."""
