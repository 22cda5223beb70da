"""Prompt injection: finds text that addresses the model instead of describing the tool."""
