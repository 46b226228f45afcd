"""What can be measured: algorithms, contracts and known answers of the catalogue, benchmarks of a user's project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CPU_FLAGS: Mapping[str, frozenset[str]] = {
    "aes": frozenset({"aes", "zkne", "zknd", "zkn", "zk", "zvkned", "zvkn", "zvknc", "zvkng", "msa"}),
    "clmul": frozenset({"pclmulqdq", "pmull", "zbc", "zbkc", "zvbc", "zvkg"}),
    "sha": frozenset({"sha_ni", "sha1", "sha2", "zknh", "zkn", "zk", "zvknha", "zvknhb", "msa"}),
}
"""The CPU features that an algorithm may be `accelerated_by`, and the flags of `/proc/cpuinfo` that tell of them.

x86-64, AArch64, RISC-V (extensions of the ISA string) and s390x (`msa`: message-security assist, which has GHASH
among its hashes, so that a library can do without carry-less multiplication).
"""

_INSTRUCTIONS = {"aes": "AES", "clmul": "carry-less multiply", "sha": "SHA"}


def no_instructions(features: Iterable[str]) -> str:
    """Return words for what an object lacks: `no AES or SHA instructions`."""
    return f"no {' or '.join(_INSTRUCTIONS[name] for name in features)} instructions"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One algorithm, mode included: `aes-128-cbc` and `aes-128-ctr` are two.

    `kind` is one of those of `perbyte.catalogue.checking.OPERATIONS`; `probe` are loops of known cost that the
    harness measures itself by. Sizes are bytes; 0 means not applicable. `data_multiple_bytes` is the granularity
    of the data (16 for AES in ECB or CBC without padding, 1 for CTR). `tag_bytes` is the length of the tag,
    digest, MAC, signature, shared secret or password hash. `randomised` names the operations whose output the
    material does not determine; `fixed_key` says that a runner brings a key pair of its own, so that outputs of
    two runners cannot be compared at all. `contract` is what it is measured under when nothing is said and the
    default of its kind does not fit, `contracts` the same for single operations. `groups` are names that mean several
    algorithms (a curve). `accelerated_by` names CPU features that change its speed ("aes", "sha", "clmul"): a CPU tier
    that changes nothing there gets a warning. `attempts` is how many candidates a signature is expected to need, 0
    where none is rejected. `note` says which variant is meant where a name alone leaves it open.
    """

    id: str
    name: str
    kind: str
    family: str
    mode: str = ""
    block_bytes: int = 0
    key_bytes: int = 0
    nonce_bytes: int = 0
    tag_bytes: int = 0
    public_bytes: int = 0
    ciphertext_bytes: int = 0
    data_multiple_bytes: int = 1
    year: int = 0
    origin: str = ""
    operations: tuple[str, ...] = ()
    randomised: tuple[str, ...] = ()
    fixed_key: bool = False
    contract: str = ""
    contracts: Mapping[str, str] = field(default_factory=dict, hash=False)
    aliases: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    accelerated_by: tuple[str, ...] = ()
    attempts: float = 0.0
    note: str = ""

    def determined(self, operation: str) -> bool:
        """True when the material determines the output, so that every implementation must give the same."""
        return (
            self.kind not in ("probe", "routine") and not self.fixed_key and operation not in self.randomised
        )


@dataclass(frozen=True, slots=True)
class Contract:
    """What one timed call is.

    `id` carries the version (`stream/1`); rows of different ids never rank together.
    """

    id: str
    title: str
    meaning: str
    kinds: tuple[str, ...]
    default_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """One known answer of a standard. All byte strings are lower-case hex; absent ones are empty.

    For `encrypt` and `seal`: `output` is the ciphertext (for AEADs followed by the tag). For hashes and MACs:
    the digest. `input` of `verify` is the message followed by the signature, that of `derive` the peer's public
    key, that of `decapsulate` the ciphertext; of `expand` and `squeeze` only its length counts. `refused` means
    that the implementation must refuse the input (a negative test); where there is an output all the same, it may
    refuse or give that. Answers of algorithms with a `fixed_key` are for runners whose key pair accepts the first one.
    `source` names the document and place the vector was taken from, `kind` what libraries are known to accept (see
    docs/runner-toml.md).
    """

    algorithm: str
    operation: str
    source: str
    input: str = ""
    output: str = ""
    key: str = ""
    nonce: str = ""
    aad: str = ""
    refused: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark as its program lists it.

    `bytes` is 0 where none are declared; `why` says that it cannot be measured, `note` what has to be known of its
    figure.
    """

    id: str
    name: str
    bytes: int = 0
    contract: str = ""
    why: str = ""
    note: str = ""
