"""The command line: parse, call, print, exit code. Nothing below it prints."""
