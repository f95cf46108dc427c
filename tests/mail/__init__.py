"""Mails as bytes, a real mail server on this machine, and mailboxes with bounces."""
