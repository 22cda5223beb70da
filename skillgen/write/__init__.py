"""Puts documents where they belong without losing anybody's words. Knows paths and texts, not services.

`record` remembers what skillgen wrote, `plan` compares and decides, `apply` replaces files, `diff` shows changes.
"""
