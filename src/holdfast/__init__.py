"""holdfast: can weak memory break this program?"""
