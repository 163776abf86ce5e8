"""Redouble: a Redis double for tests, CI and a developer's machine."""

__version__ = "0.1.0"
