"""The world `crafter`: the published 2D survival game as a `World` (docs/crafter.md), and who plays in it.

Nothing here is imported before it is asked for: the game is a package of its own.
"""
