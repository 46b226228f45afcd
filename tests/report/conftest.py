from __future__ import annotations

import sys
from pathlib import Path

# The factory of runs stands beside the tests and is no test itself.
sys.path.insert(0, str(Path(__file__).parent))
