"""Each page of the readers' pages over a real socket, on both databases."""
