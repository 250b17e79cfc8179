"""Types of the values that options take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Union

FilePath = Union[str, "os.PathLike[str]"]
Texts = Union[str, Sequence[str]]
HeadName = Union[str, tuple[Union[int, str], ...]]
HeadNames = Union[HeadName, Sequence[HeadName]]
Pair = Union[str, Sequence[int]]
Positions = Union[str, int, Sequence[int]]
Ids = Union[str, Sequence[int], Any]  # also arrays and tensors
