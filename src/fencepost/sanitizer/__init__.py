"""The dynamic side: compiling C and C++ so that its atomics are watched, running it, reading what was found.

The watching itself is done by the run-time library in `native/sanitizer`, which is linked into the program.
"""
