"""Minecraft Java 1.16.5, with the raw ores of later versions: data files, and the script that made some."""
