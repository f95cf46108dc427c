"""The checker, against Masthead as it is and against Masthead with one deviation at a time."""
