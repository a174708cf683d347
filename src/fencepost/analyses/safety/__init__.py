"""Safety: can a program reach a bad state?"""
