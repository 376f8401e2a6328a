"""Crafter 1.8.3 (danijar/crafter), a published 2D survival game: data files (docs/crafter.md)."""
