"""Worlds that are the game's own client: keys in, a picture and readings out, in a process of its own."""
