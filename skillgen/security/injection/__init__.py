"""Finds text that addresses the model that reads it."""
