"""`python -m headlight …` and the command `headlight` are the program itself."""

import os
import sys

from .errors import HeadlightError
from .program import environment, find_program


def main() -> None:
    """Become the program, with this process's arguments."""
    try:
        program = find_program()
        os.execve(program, [str(program), *sys.argv[1:]], environment(program))
    except (HeadlightError, OSError) as problem:
        sys.exit(f"headlight: {problem}")


if __name__ == "__main__":
    main()
