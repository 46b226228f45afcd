"""Where the data directories lie and where results and builds go.

A checkout has the data directories at its top; an installed wheel carries them in `perbyte/_data`. Nothing else
in Perbyte knows the difference. `PERBYTE_HOME` overrides every written place but that of the locks on cores, which are
the machine's.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from perbyte import __version__
from perbyte.errors import EnvironmentLacking

# where all users of a machine may write, whatever their environment: the same for each of them
_SHARED = (Path("/run/lock"), Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"))
# for tests alone, whose runs share cores and care for none: whoever measures shares the machine's
TEST_LOCKS = "PERBYTE_TEST_LOCKS"

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


@cache
def in_checkout() -> bool:
    """True when this code runs from a checkout (also when installed in editable mode)."""
    return (_CHECKOUT / "protocol" / "SPEC.md").is_file() and (_CHECKOUT / "pyproject.toml").is_file()


@cache
def commit() -> str:
    """The commit of the checkout that this code runs from, with `-dirty` where it was changed; empty outside of one."""
    if not in_checkout():
        return ""
    words = ["git", "-C", str(_CHECKOUT), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
    try:
        process = subprocess.run(words, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""


def data_dir(name: str) -> Path:
    """Return the data directory `name` (`protocol`, `catalogue`, `runners`, `studies`).

    Raises EnvironmentLacking when the installation is incomplete.
    """
    place = (_CHECKOUT if in_checkout() else _PACKAGE / "_data") / name
    if not place.is_dir():
        raise EnvironmentLacking(
            f"the data directory '{name}' is missing at {place}", hint="install Perbyte again"
        )
    return place


def runs_home() -> Path:
    """Return the directory under which new runs are created (not created here)."""
    return _data_home() / "runs"


def atlas_home() -> Path:
    """Return the directory of the atlas that is meant where none is named (not created here)."""
    return _data_home() / "atlas"


def atlas_cache() -> Path:
    """Return the directory in which files of atlases that lie elsewhere are kept (not created here)."""
    return _cache_home() / "atlas"


def build_home() -> Path:
    """Return the directory in which runners are built: `build/` of a checkout, else the user's cache."""
    if home := os.environ.get("PERBYTE_HOME"):
        return Path(home) / "build" / __version__
    if in_checkout():
        return _CHECKOUT / "build"
    return _xdg("XDG_CACHE_HOME", ".cache") / "perbyte" / "build" / __version__


def learnt_file() -> Path:
    """Return the file of what was learnt about this processor since the machine was started (not created here)."""
    return _cache_home() / "processor.json"


def locks_home() -> Path:
    """Return the directory of the locks that all who measure on this machine share, whoever they are.

    It follows from the machine alone and neither from `PERBYTE_HOME` nor from `TMPDIR`: the first of a few directories
    that every user may write to. A container has its own, unless the host's is mounted there.
    """
    if home := os.environ.get(TEST_LOCKS):
        return Path(home)
    for place in _SHARED:
        try:
            if place.stat().st_mode & stat.S_IWOTH and os.access(place, os.W_OK):
                return place
        except OSError:
            continue
    return Path(tempfile.gettempdir())


def refusal(place: Path) -> OSError | None:
    """Why `place` can be neither made nor written, as far as permissions tell beforehand; None where nothing is known.

    Makes nothing. Of a place that is not there the nearest directory above it that is decides.
    """
    for there in (place, *place.absolute().parents):
        try:
            status = there.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            return error
        if there != place and not stat.S_ISDIR(status.st_mode):
            return OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
        if not os.access(there, os.W_OK):
            number = errno.EROFS if os.statvfs(there).f_flag & os.ST_RDONLY else errno.EACCES
            return OSError(number, os.strerror(number), str(there))
        return None
    return None


def require_writable(file: Path) -> None:
    """Raise EnvironmentLacking where permissions tell beforehand that `file` cannot be written."""
    error = OSError(errno.EISDIR, os.strerror(errno.EISDIR)) if file.is_dir() else refusal(file)
    if error:
        raise EnvironmentLacking(
            f"{file} cannot be written: {error.strerror}", hint="look at the disk and the permissions"
        )


def _data_home() -> Path:
    home = os.environ.get("PERBYTE_HOME")
    return Path(home) if home else _xdg("XDG_DATA_HOME", ".local/share") / "perbyte"


def _cache_home() -> Path:
    home = os.environ.get("PERBYTE_HOME")
    return Path(home) / "cache" if home else _xdg("XDG_CACHE_HOME", ".cache") / "perbyte"


def _xdg(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    return Path(value) if value and Path(value).is_absolute() else Path.home() / fallback
