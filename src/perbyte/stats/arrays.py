"""NumPy under its usual name, loaded when it is first used.

Loading takes a fifth of what lies between Enter and the first sample. A run needs it for the first answer, which comes
while the next burst is being taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Module:
        """What is asked for is kept, so that it is looked up as fast as in the module itself."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Module()
