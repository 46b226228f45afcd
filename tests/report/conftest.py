from __future__ import annotations

import sys
from pathlib import Path

# The factory of runs and the browser stand beside the tests and are no tests themselves.
sys.path.insert(0, str(Path(__file__).parent))
