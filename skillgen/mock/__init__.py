"""Serves what a service declares, with no service behind it: its tools, or the operations of its API."""
