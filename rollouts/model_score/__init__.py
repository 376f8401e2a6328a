"""How well a model writes remedies: a fixed set of situations, each with its cause and a repair known.

Situations are failures that are really made in the built-in world (techtree/situations.toml), judged by
Monitor and asked about as Inducer asks. What a model answers is scored on four questions, the last of them by
carrying its repair out (docs/models.md).
"""
