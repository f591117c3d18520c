"""Does Kimi K3 fit on this machine? Facts, judged by checks against a profile, become a report."""

__version__ = "0.1.0"
