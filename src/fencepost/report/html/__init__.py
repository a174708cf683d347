"""Answers as web pages and in notebooks."""
