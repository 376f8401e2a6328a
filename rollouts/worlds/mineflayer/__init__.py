"""The world `mineflayer`: Minecraft 1.16.5 by its protocol (docs/worlds.md), on a server of the user's own or
on one that it brings along, and who plays in it.
"""
