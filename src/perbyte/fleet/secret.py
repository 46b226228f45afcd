"""Who belongs to a fleet: whoever has its secret, one file with a key and the certificate that the key made for itself.

Every connection of a fleet is TLS, and both ends show this certificate and accept no other. So nothing that a stranger
sends is decoded, and nobody who took a scheduler's port hears anything. The file is made once per installation by the
first scheduler, is readable by its owner only, and is copied to other machines by the user. Who has it can run programs
as every member of the fleet. `--insecure` leaves all of this out.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import secrets
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed.security import Security

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.machine import fleet_home
from perbyte.store.files import disk_error

PORT = 8786
END = "-----END CERTIFICATE-----"
_BEGIN = "-----BEGIN CERTIFICATE"
_LIMIT = 64 << 10
_YEARS = 10
_FIELDS = [f"tls_{role}_{part}" for role in ("client", "scheduler", "worker") for part in ("cert", "key")]
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:.%]+\]|[^\s:/\[\]@]+)(:\d{1,5})?/?")


def secret_file() -> Path:
    """Where this installation keeps the secret of its fleet."""
    return fleet_home() / "secret.pem"


def make_secret(place: Path) -> bool:
    """Make a secret at `place` unless one is there; True where it was made. Raises StoreError where it cannot be.

    What is there is never replaced, also when two processes make one at the same time.
    """
    if os.path.lexists(place):
        return False
    fresh = place.with_name(f".{place.name}-{secrets.token_hex(8)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(new_secret().encode())
        try:
            os.link(fresh, place)
        except FileExistsError:
            return False
        finally:
            fresh.unlink()
    except OSError as error:
        raise disk_error(error, place.parent) from error
    return True


def new_secret() -> str:
    """A key and the certificate that it made for itself, as PEM: valid for ten years, for both ends of TLS."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "perbyte fleet")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))  # clocks of machines differ
        .not_valid_after(now + datetime.timedelta(days=365 * _YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return (private + certificate.public_bytes(serialization.Encoding.PEM)).decode()


def read_secret(place: Path) -> str:
    """Read a fleet's secret. Raises UsageError where there is none, and where others could have read or put it."""
    try:
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(_LIMIT).decode("ascii", "replace") if stat.S_ISREG(status.st_mode) else ""
    except OSError as error:
        raise UsageError(
            f"there is no secret of a fleet at {place}: {error.strerror}",
            hint="copy the file that 'perbyte fleet scheduler' names to this machine, or give it by --secret FILE",
        ) from error
    if text and status.st_uid not in (os.geteuid(), 0):
        raise UsageError(f"{place} belongs to another user", hint="copy it to a file of your own")
    if text and status.st_mode & 0o077:
        raise UsageError(f"others can read {place}, or write it", hint=f"if it is yours: chmod 600 {place}")
    _check(text, str(place))
    return text


@dataclass(frozen=True, slots=True)
class FleetAccess:
    """Where a fleet's scheduler is, and how one talks to it."""

    address: str
    security: Security


def entry(address: str, secret: Path | str | None = None, *, insecure: bool = False) -> FleetAccess:
    """How to reach the scheduler at `address`, [tls://]HOST[:PORT]; `secret`: a file (None: the usual one), or a text.

    TLS is taken also where tcp:// is written, unless `insecure`. Where Dask's own configuration names certificates,
    these count. Raises UsageError for an address that is none, and as `read_secret`.
    """
    match = _ADDRESS.fullmatch(address)
    if not match:
        raise UsageError(f"'{address[:80]}' is no address of a scheduler", hint="tls://HOST:8786, or HOST")
    scheme, host, port = match.groups()
    if insecure and scheme == "tls":
        raise UsageError(
            "--insecure is without TLS, and the address has it", hint=f"tcp://{host}{port or ''}"
        )
    return FleetAccess(
        f"{'tcp' if insecure else 'tls'}://{host}{port or f':{PORT}'}", security(secret, insecure=insecure)
    )


def security(secret: Path | str | None, *, insecure: bool = False) -> Security:
    """How a process of a fleet talks that has this secret; `insecure`: in the clear, to anybody. Raises as `entry`."""
    none: dict[str, Any] = dict.fromkeys(["tls_ca_file", *_FIELDS])
    if insecure:
        return Security(require_encryption=False, **none)
    configured = Security()
    if configured.tls_ca_file and secret is None:
        configured.require_encryption = True
        return configured
    text = secret if isinstance(secret, str) else read_secret(secret or secret_file())
    _check(text, "the secret")
    certificate = text[text.index(_BEGIN) :]
    return Security(
        require_encryption=True,
        tls_ca_file=certificate,
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        tls_max_version=None,
        **{field: certificate if field.endswith("cert") else text for field in _FIELDS},
    )


def configured_by_dask() -> bool:
    """Whether Dask's own configuration names certificates."""
    return bool(Security().tls_ca_file)


def refuse_stranger(address: str, error: BaseException | None) -> None:
    """Raise EnvironmentLacking where a connection to `address` failed because its other end has another secret."""
    while error is not None:
        if isinstance(error, ssl.SSLError) or "SSL" in str(error):
            raise EnvironmentLacking(
                f"what answers at {address} does not have the secret of this fleet",
                hint="copy the file that 'perbyte fleet scheduler' names there to this machine, or give it by "
                "--secret FILE",
            ) from error
        error = error.__cause__ or error.__context__


def _check(text: str, where: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with contextlib.suppress(ssl.SSLError, ValueError):
        context.load_verify_locations(cadata=text[text.index(_BEGIN) :])
        if "PRIVATE KEY-----" in text:
            return
    raise UsageError(
        f"{where} holds no key and certificate of a fleet",
        hint="'perbyte fleet scheduler' makes one where there is none, and names it",
    )
