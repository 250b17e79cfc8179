"""`python -m headlight …` and the command `headlight` are the program itself."""
import os
import sys

from .errors import HeadlightError
from .program import find_program


def main() -> None:
    """Becomes the program, with this process's arguments."""
    try:
        program = str(find_program())
        os.execv(program, [program, *sys.argv[1:]])
    except (HeadlightError, OSError) as problem:
        sys.exit(f"headlight: {problem}")


if __name__ == "__main__":
    main()
