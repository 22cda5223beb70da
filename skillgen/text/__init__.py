"""Makes text of a source safe for a Markdown document, and finds words and sentences in it. Knows no protocols."""
