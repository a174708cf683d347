"""TPL in an editor: a language server (`fencepost lsp`).

`server` speaks the protocol, by way of pygls; the other modules know TPL and nothing of the protocol, so they
need no pygls. Lines and columns are counted from 1, as everywhere in fencepost; `server` alone counts from 0.
"""
