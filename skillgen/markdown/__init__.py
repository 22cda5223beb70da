"""Markdown as text: filters for each place where a source's words may stand, anchors, front matter.

No I/O, no Jinja, no SDK. Everything that a source says is untrusted, and reaches a document only through `filters`.
"""
