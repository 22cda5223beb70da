"""Writes documents to OUT without losing a person's changes. Knows paths and texts, not services.

`record` remembers what skillgen wrote, `edits` finds what a person changed, `merge` carries it into new text, `plan`
decides and writes.
"""
