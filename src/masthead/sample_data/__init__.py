"""Sample data: import files of a made-up publisher, and the history of the demo."""
