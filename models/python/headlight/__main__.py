"""`python -m headlight …` and the command `headlight` are the program itself; `live` serves a
transformers model."""

import os
import sys

from .errors import HeadlightError
from .program import environment, find_program


def main() -> None:
    """Become the program, with this process's arguments; or serve a model."""
    if sys.argv[1:2] == ["live"]:
        from .engine.command import main as serve  # the program needs none of it

        return serve(sys.argv[2:])
    try:
        program = find_program()
        os.execve(program, [str(program), *sys.argv[1:]], environment(program))
    except (HeadlightError, OSError) as problem:
        sys.exit(f"headlight: {problem}")


if __name__ == "__main__":
    main()
