"""Example calls and requests from raw schemas: declared values first, then generated ones."""
