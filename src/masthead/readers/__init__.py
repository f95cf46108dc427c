"""The readers' pages: what a reader does without calling (readers, "What a reader can do")."""
