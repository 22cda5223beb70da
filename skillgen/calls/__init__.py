"""Calls of the tools of a service: their arguments, read and checked against the tools' schemas."""
