"""Makes calls that a tool accepts, from the raw schema of what it takes: declared values first, then made ones."""
