"""Errors that speak to the person who caused them."""


class UserError(Exception):
    """Something a user can put right; the message says what is wrong, where, and what to do."""


class EmptyCohort(UserError):
    """A filter left no case."""


class Cancelled(Exception):
    """Long work was asked to stop before its end."""
