"""What readers do themselves, as operations of the books."""
