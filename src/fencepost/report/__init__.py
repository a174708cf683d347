"""Answers in every form: terminal text, pictures, web pages and notebooks, JSON, SARIF and JUnit.

The modules here decide what is said (`story`, `findings`, `explain`, `repair`); `text`, `picture`, `html` and
`export` decide how it looks. They turn values of `fencepost.verdicts` into text and print nothing.
"""
