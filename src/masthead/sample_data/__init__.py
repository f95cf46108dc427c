"""Made-up data: files of a publisher that never existed, and the history of the demo."""
