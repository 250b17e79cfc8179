"""What goes wrong, in one sentence."""


class HeadlightError(Exception):
    """The input cannot be used. The message is the program's own sentence: what, why, and what helps."""


class ProgramDied(HeadlightError):
    """The program was ended from outside (by a signal), so that the same may go well another time."""
