"""The tests of Masthead, one folder for each room of the house."""
