"""Fuzzing of everything that reads what others wrote; see __main__.py for the command."""
