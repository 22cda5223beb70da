"""Text of a source made safe to place in a Markdown document; no knowledge of protocols."""
