"""A live model behind a socket, for the window: the protocol of docs/engine.md."""

from .live import Live, live

__all__ = ["Live", "live"]
