"""The playground: a page in the browser to write programs, ask about them, and repair them.

`app` answers requests, `guard` keeps strangers out, `searches` runs each question in a process of its own
(`search`), `questions` is the list of what can be asked, `gallery` has the examples. The page is in `assets`,
the editor in `vendor`, where `editor/bundle.py` puts it when the package is built.
"""
