"""What each memory model means: small, slow, obviously right. The oracles of the tests.

Names are imported from the modules: answering a question takes `rules` alone, and none of the definitions.
"""
