"""Logging in to a hosted server: OAuth as the protocol asks for it ("Authorization" of every revision since 2025)."""
