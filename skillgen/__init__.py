"""skillgen: turns what a service says of itself into the documents that AI agents read."""

__version__ = "0.1.0"
