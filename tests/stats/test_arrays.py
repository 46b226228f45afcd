from __future__ import annotations

import subprocess
import sys


def loaded(words: str) -> str:
    """What the program says that first runs `words`, then tells whether NumPy is loaded."""
    done = subprocess.run(
        [sys.executable, "-c", f"{words}; import sys; print('numpy' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_what_starts_a_run_does_not_load_numpy():
    assert loaded("import perbyte.cli.measure, perbyte.app.conducting") == "False"


def test_numpy_is_there_as_soon_as_something_is_asked_of_it():
    words = "from perbyte.stats.arrays import np; assert np.array([1.0, 2.0]).sum() == 3.0"
    assert loaded(words) == "True"


def test_what_was_asked_for_is_kept():
    import numpy

    from perbyte.stats.arrays import np

    assert np.median is numpy.median
    assert vars(np)["median"] is numpy.median
