"""What answers look like, for people: tables and sentences of what the package's functions return.

The terminal prints them, and notebooks show them (`spillgate.shown.notebook`).
"""
