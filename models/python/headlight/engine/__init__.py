"""A live model behind a socket: the protocol of docs/engine.md."""

from .live import Live, live

__all__ = ["Live", "live"]
