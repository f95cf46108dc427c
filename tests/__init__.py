"""What the tests of all folders use."""
