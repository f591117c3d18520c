"""Print one of the README's two commands, so that the gate runs what the reader pastes."""

import sys
from pathlib import Path

STARTS = "python3 -m venv"
README = Path(__file__).parents[1] / "README.md"

commands = [line for line in README.read_text().splitlines() if line.startswith(STARTS)]
chosen = {"check": "k3preflight check", "test": "pytest"}[sys.argv[1]]
(command,) = (line for line in commands if chosen in line)
print(command)
