"""The proof of the change feed: schedules, a model, planted faults and killed processes."""
