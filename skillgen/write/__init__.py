"""Writes documents to OUT without losing a person's changes. Knows paths and texts, not services.

`record` remembers what skillgen wrote, `merge` carries what a person changed into new text, `plan` decides and writes.
"""
