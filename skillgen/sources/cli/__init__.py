"""Command-line programs: reads their commands, and documents them as tools."""
