"""How the cost of calls is spread over places in memory, which share of places is slow, and what decides.

Places are drawn: a system places a process, and within it forks move stack, state and buffers independently of each
other. So whether one of these decides can be tested exactly, by permutations: where the stack says nothing of the
cost, costs can be exchanged between places of a process without changing their distribution. The statistic is the
largest standardised difference between a window of addresses (modulo a page or a line, going round) and the rest, over
all windows of all factors, so that looking at thousands of windows is part of the null distribution (Westfall and
Young 1993). What was named is taken out, and the rest is looked at again, until nothing stands out.

Four questions share the error rate: what moves within a process, whether processes differ, which bit of the library's
address tells them apart, and whether a program near its library costs another amount.

Each place was measured twice. Where the second cost says nothing of the first, places do not matter, whatever the
spread. Two heaps are told by the split that separates the costs best (Otsu 1979) if the heaps lie five standard
deviations apart: a uniform spread reaches 3.5, a normal one 2.7 (Ashman, Bird and Zepf 1994 take 2 for mixtures that
are known to be two).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from perbyte.model import Cell, Estimate, Quantile
from perbyte.model.placement import LINE_BYTES, PAGE_BYTES, Decider, MemoryPlace, Placement
from perbyte.stats.arrays import np
from perbyte.stats.estimate import ranks, t_quantile
from perbyte.stats.samples import Bools, Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.signedinteger[Any]]
else:
    Ints = object

ERROR, LEAST_ERROR = 0.05, 0.001  # of an answer, shared by the cells of a run but never less than the latter
LEVEL = 0.95  # of intervals
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
LEAST_PLACES, LEAST_PROCESSES = 12, 8
LEAST_EFFECT = 0.005  # of the cost, that is named: what calibrations of processes differ by is below
LEAST_SPREAD = 0.01  # between slow places and others, and of all places that is worth a word
SLOW_FROM = 0.02  # above the best tenth, where there are no two heaps
SEPARATE = 5.0  # standard deviations between two heaps
LEAST_SLOW = 3  # places of a heap, and of a window
QUESTIONS = 4  # that share the error rate
MOST_NAMED = 4
BINS, FINE_BINS = 64, 4  # of a page: a line each; of a line: 16 bytes each, what allocators keep to
FIRST_BLOCK, BLOCK = 50, 250  # permutations that are made at once: at first, and at the most
ENOUGH_BEYOND = 25  # permutations as strong, after which no more are made
LEAST_PERMUTATIONS, MOST_PERMUTATIONS = 1000, 10_000
LIBRARY_BITS = range(12, 41)  # of an address that the system draws
_SEED = 20261127

_BASES = ("stack", "state", "input", "output")
_PAIRS = tuple((a, b) for i, b in enumerate(_BASES) for a in _BASES[i + 1 :])


@dataclass(frozen=True, slots=True, eq=False)
class _Factor:
    """Something that lies somewhere: the bin of each place, of so many of `period` bytes in all."""

    name: str
    period: int
    bins: int
    bin_of: Ints


def error_of(cells: int) -> float:
    """The error rate of each of so many answers that are given together (Bonferroni)."""
    return max(LEAST_ERROR, ERROR / max(1, cells))


def judge_placement(
    cell: Cell,
    places: Sequence[MemoryPlace],
    *,
    unit: Literal["cycles", "ns"] = "cycles",
    error: float = ERROR,
    lost: int = 0,
) -> Placement:
    """Say what the costs at `places` tell. `error`: the chance that something is named without a reason.

    `lost`: places whose calls were disturbed too often to have a cost.
    """
    placement = Placement(cell, unit, places=tuple(places), error=error, lost=lost)
    usual = placement.usual
    processes = np.unique([place.process for place in usual], return_inverse=True)[1]
    groups = int(processes.max()) + 1 if len(usual) else 0
    if len(usual) < LEAST_PLACES or groups < LEAST_PROCESSES:
        why = (
            f"{len(usual)} places of {groups} processes are too few: {LEAST_PLACES} of {LEAST_PROCESSES} tell"
        )
        return replace(placement, unknown=why)
    twice = np.log(np.array([place.costs for place in usual], dtype=float))
    costs: Floats = twice.mean(axis=1)
    noise = float(np.sqrt(np.mean((twice[:, 0] - twice[:, 1]) ** 2) / 2))
    draw = np.random.default_rng(_SEED)
    p_place = _p_of_place(twice, error, draw)
    matters = p_place <= error
    limit, heaps = _limit(twice, noise) if matters else (math.inf, False)
    slow: Bools = costs > limit
    if not LEAST_SLOW <= int(slow.sum()) <= len(slow) - LEAST_SLOW:
        limit, heaps, slow = math.inf, False, np.zeros(len(costs), dtype=bool)
    factors, share = _factors(places), error / QUESTIONS
    deciders, rest = _named(places, factors, math.exp(limit), share, draw)
    of_usual = rest[[not place.near for place in places]]
    deciders += _of_processes(usual, of_usual, processes, share, draw, p_place)
    far, near = _far_and_near(places, rest, share, draw)
    deciders += far
    spread = float(np.quantile(costs, SHARES[-1]) - np.quantile(costs, SHARES[0]))
    vague = matters and (spread > math.log1p(LEAST_SPREAD) or bool(slow.any()))
    return replace(
        placement,
        verdict="decided" if deciders else "undecided" if vague else "nothing",
        quantiles=tuple(Quantile(share, _quantile(costs, processes, share)) for share in SHARES),
        noise=noise,
        heaps=heaps,
        limit=math.exp(limit) if slow.any() else None,
        slow=share_of(slow, processes) if slow.any() else None,
        slower=_apart(costs, slow, processes) if slow.any() else None,
        deciders=tuple(deciders),
        drawn=tuple(dict.fromkeys(factor.name for factor in factors)),
        near=near,
    )


def _p_of_place(twice: Floats, error: float, draw: np.random.Generator) -> float:
    """The p-value of places that cost more again: ranks of both bursts, against permutations of the second."""
    first, second = (ranks(column) - (len(twice) + 1) / 2 for column in twice.T)
    strength = float(first @ second)

    def beyond(count: int) -> int:
        return int((draw.permuted(np.tile(second, (count, 1)), axis=1) @ first >= strength).sum())

    return _p_value(beyond, error)


def _p_value(beyond: Callable[[int], int], error: float) -> float:
    """The p-value of a statistic, to be held against `error`; `beyond(n)`: how many of n more permutations reach it.

    It is not pursued once enough of them do (Besag and Clifford 1991).
    """
    reached = made = 0
    most = min(MOST_PERMUTATIONS, max(LEAST_PERMUTATIONS, 12 / error))
    while made < most and reached < ENOUGH_BEYOND:
        count = min(BLOCK, max(FIRST_BLOCK, made))
        reached += beyond(count)
        made += count
    return (reached + 1) / (made + 1)


def _limit(twice: Floats, noise: float) -> tuple[float, bool]:
    """The logarithm of the cost above which a place is slow, and whether it parts two heaps."""
    costs = np.sort(twice.mean(axis=1))
    counts = np.arange(1, len(costs))
    sums = np.cumsum(costs)[:-1]
    low = sums / counts
    high = (costs.sum() - sums) / (len(costs) - counts)
    between = counts * (len(costs) - counts) * (high - low) ** 2
    between[: LEAST_SLOW - 1] = between[len(between) - LEAST_SLOW + 1 :] = 0.0
    split = int(between.argmax()) + 1
    below, above = costs[:split], costs[split:]
    deviation = math.sqrt((float(below.var()) + float(above.var())) / 2 + noise**2 / 2 * 1e-6)
    apart = float(above.mean() - below.mean())
    limit = float(below[-1] + above[0]) / 2
    both = int((twice > limit).all(axis=1).sum()), int((twice <= limit).all(axis=1).sum())
    if (
        apart >= math.log1p(LEAST_SPREAD)
        and apart >= SEPARATE * deviation
        and min(both) >= LEAST_SLOW
        and sum(both) >= 0.9 * len(costs)
    ):
        return limit, True
    return float(np.quantile(costs, 0.1)) + max(math.log1p(SLOW_FROM), 4 * noise), False


def _factors(places: Sequence[MemoryPlace]) -> list[_Factor]:
    """All that took more than a few places: addresses, and distances, modulo a page and modulo a line.

    What moves along with something else is left out.
    """
    at = {name: np.array([getattr(place, name) for place in places], dtype=np.int64) for name in _BASES}
    moved: dict[str, Ints] = {}
    for name, values in at.items():
        together = [other for other in moved.values() if len(np.unique((values - other) % PAGE_BYTES)) == 1]
        if (values > 0).all() and _spread(values, PAGE_BYTES, BINS) and not together:
            moved[name] = values
    values_of = dict(moved)  # a distance from what does not move, or moves along, would be the same once more
    for a, b in _PAIRS:
        if a in moved and b in moved:
            values_of[f"{a} - {b}"] = moved[a] - moved[b]
    factors = []
    for name, values in values_of.items():
        for period, bins in ((PAGE_BYTES, BINS), (LINE_BYTES, FINE_BINS)):
            if _spread(values, period, bins):
                factors.append(_Factor(name, period, bins, values % period * bins // period))
    return factors


def _spread(values: Ints, period: int, bins: int) -> bool:
    return len(np.unique(values % period * bins // period)) >= min(bins, 16) / 2


@cache
def _windows(bins: int) -> Floats:
    """The windows that are looked at, as columns of 0 and 1 for each bin."""
    widths = [1 << power for power in range(bins.bit_length()) if 1 << power <= bins // 2]
    after_first = (np.arange(bins)[:, None] - np.arange(bins)) % bins
    return np.concatenate([after_first < width for width in widths], axis=1).astype(float)


class _Scan:
    """The standardised difference between each window of each factor and the rest, for many vectors of costs."""

    def __init__(self, factors: Sequence[_Factor]) -> None:
        self.factors = list(factors)
        self._hot = [np.eye(factor.bins)[factor.bin_of] for factor in factors]
        self._scaled = []  # each window's bins, over its scale
        for hot in self._hot:
            windows = _windows(hot.shape[1])
            total, inside = float(len(hot)), hot.sum(axis=0) @ windows
            told = (inside >= LEAST_SLOW) & (inside <= total - LEAST_SLOW)
            scale = np.sqrt(np.maximum(inside * (1 - inside / total), 1e-9))
            self._scaled.append(windows * np.where(told, 1.0 / scale, 0.0))

    def deviates(self, costs: Floats, which: int) -> Floats:
        """For rows of costs whose mean is 0, the deviate of each window of a factor; 0 where it holds too few."""
        deviation = np.sqrt(np.mean(costs**2, axis=1, keepdims=True))
        strength: Floats = costs @ self._hot[which] @ self._scaled[which]
        return strength / np.where(deviation > 0, deviation, 1.0)

    def largest(self, costs: Floats) -> Floats:
        """The largest deviate of all, either way, for each row."""
        each = [np.abs(self.deviates(costs, which)).max(axis=1) for which in range(len(self.factors))]
        greatest: Floats = np.max(each, axis=0)
        return greatest


def _sharpest(factor: _Factor, costs: Floats) -> tuple[int, int, float]:
    """First bin, number of bins and deviate of the window that stands out most, of any width."""
    hot = np.eye(factor.bins)[factor.bin_of]
    widths = range(1, factor.bins)
    total, inside = float(len(costs)), _sums(hot.sum(axis=0), widths)
    told = (inside >= LEAST_SLOW) & (inside <= total - LEAST_SLOW)
    scale = np.sqrt(np.maximum(inside * (1 - inside / total), 1e-9))
    deviates = np.where(told, _sums(costs @ hot, widths) / scale, 0.0)
    best = int(np.abs(deviates).argmax())
    return best % factor.bins, widths[best // factor.bins], float(deviates[best])


def _sums(of_bins: Floats, widths: Iterable[int]) -> Floats:
    """Sums of bins in each window, for each width from all first bins."""
    bins = len(of_bins)
    going = np.concatenate([[0.0], np.cumsum(np.concatenate([of_bins, of_bins]))])
    return np.concatenate([going[width : width + bins] - going[:bins] for width in widths])


def _named(
    places: Sequence[MemoryPlace],
    factors: Sequence[_Factor],
    limit: float,
    error: float,
    draw: np.random.Generator,
) -> tuple[list[Decider], Floats]:
    """What decides within processes, the strongest first, and the costs (logarithms) without what it explains.

    `limit`: the cost above which a place is slow.
    """
    named: list[Decider] = []
    processes = np.unique([place.process for place in places], return_inverse=True)[1]
    usual: Bools = np.array([not place.near for place in places], dtype=bool)
    rest: Floats = np.log(np.array([place.costs for place in places], dtype=float)).mean(axis=1)
    slow: Bools = (
        usual & (rest > math.log(limit)) if math.isfinite(limit) else np.zeros(len(rest), dtype=bool)
    )
    left = list(factors)
    while left and len(named) < MOST_NAMED:
        centred = rest - _means(rest, processes)[processes]
        scan = _Scan(left)
        each = [scan.deviates(centred[None, :], which)[0] for which in range(len(left))]
        which = int(np.argmax([np.abs(deviates).max() for deviates in each]))
        best = int(np.abs(each[which]).argmax())
        strength = abs(float(each[which][best]))

        def beyond(
            count: int, scan: _Scan = scan, centred: Floats = centred, strength: float = strength
        ) -> int:
            shuffled = _shuffled(centred, processes, count, draw)
            return int((scan.largest(shuffled) >= strength - 1e-9).sum())

        p = _p_value(beyond, error)
        if p > error:
            break
        factor = left[which]
        first, width, deviate = _sharpest(factor, centred)
        if deviate < 0:  # the window is the fast one: what is left of it is slow
            first, width = (first + width) % factor.bins, factor.bins - width
        inside = (factor.bin_of - first) % factor.bins < width
        more = _apart(rest, inside, processes)
        left = [other for other in left if other is not factor]
        rest = rest - _explained(rest, inside, processes)
        if more.value < LEAST_EFFECT:
            continue
        size, end = factor.period // factor.bins, (first + width) % factor.bins
        bounds = (first * size, (end or factor.bins) * size)
        counts = (int((inside & usual).sum()), int((inside & slow).sum()))
        named.append(Decider(factor.name, factor.period, *bounds, more, p, *counts))
    return named, rest


def _explained(costs: Floats, inside: Bools, processes: Ints) -> Floats:
    """What lying inside a window explains: the difference within processes, so that theirs are left."""
    lies: Floats = inside - _means(inside.astype(float), processes)[processes]
    apart = float(lies @ costs) / max(float(lies @ lies), 1e-12)
    explained: Floats = apart * (inside - inside.mean())
    return explained


def _shuffled(costs: Floats, processes: Ints, count: int, draw: np.random.Generator) -> Floats:
    """So many rows in which the costs of each process have changed places among themselves."""
    order = np.argsort(processes[None, :] + draw.random((count, len(costs))), axis=1)
    rows = np.empty((count, len(costs)))
    rows[:, np.argsort(processes, kind="stable")] = costs[order]
    return rows


def _means(costs: Floats, groups: Ints) -> Floats:
    counts = np.bincount(groups)
    means: Floats = np.bincount(groups, weights=costs) / np.maximum(counts, 1)
    return means


def _of_processes(
    places: Sequence[MemoryPlace],
    costs: Floats,
    processes: Ints,
    error: float,
    draw: np.random.Generator,
    p_place: float,
) -> list[Decider]:
    """Whether processes differ by more than places within them do, and which bit of the library's address tells.

    `p_place`: of places that cost more again; it is the answer where each process has one place.
    """
    counts = np.bincount(processes)
    means = _means(costs, processes)
    centred = costs - costs.mean()
    strength = float(counts @ (means - costs.mean()) ** 2)
    hot = np.eye(len(counts))[processes]

    def beyond(count: int) -> int:
        rows = draw.permuted(np.tile(centred, (count, 1)), axis=1)
        return int((((rows @ hot) ** 2 / counts).sum(axis=1) >= strength * (1 - 1e-12)).sum())

    within = float(np.var(costs - means[processes])) * len(costs) / max(1, len(costs) - len(counts))
    between = math.sqrt(max(0.0, float(means.var(ddof=1)) - within * float(np.mean(1 / counts))))
    p = _p_value(beyond, error) if len(costs) > len(counts) else p_place
    if p > error or between < LEAST_EFFECT:
        return []
    return [_library_bit(places, means, processes, error, draw) or _process(means, processes, p)]


def _process(means: Floats, processes: Ints, p: float) -> Decider:
    """That processes differ: of the dearer half over the cheaper one."""
    dearer = means > np.median(means)
    more = _apart(means, dearer, np.arange(len(means)))
    return Decider("process", 0, 0, 0, more, p, int(dearer[processes].sum()))


def _library_bit(
    places: Sequence[MemoryPlace], means: Floats, processes: Ints, error: float, draw: np.random.Generator
) -> Decider | None:
    """The bit of the library's address, or of its distance, that tells dear processes from cheap ones."""
    first = [int(np.argmax(processes == process)) for process in range(len(means))]
    library = np.array([places[i].library for i in first], dtype=np.int64)
    apart = library - np.array([places[i].caller for i in first], dtype=np.int64)
    if not (library > 0).all():
        return None
    bits = [
        (name, bit, values >> bit & 1)
        for name, values in (("library", library), ("distance", apart))
        for bit in LIBRARY_BITS
    ]
    bits = [each for each in bits if LEAST_SLOW <= each[2].sum() <= len(means) - LEAST_SLOW]
    if not bits:
        return None
    scale = np.array([values.sum() * (1 - values.mean()) for _, _, values in bits])
    columns = np.array([values for _, _, values in bits], dtype=float).T
    centred = means - means.mean()
    deviates = centred @ columns / np.sqrt(scale)
    best = int(np.abs(deviates).argmax())

    def beyond(count: int) -> int:
        rows = draw.permuted(np.tile(centred, (count, 1)), axis=1)
        reached = np.abs(rows @ columns / np.sqrt(scale)).max(axis=1)
        return int((reached >= abs(deviates[best]) - 1e-12).sum())

    p = _p_value(beyond, error)
    if p > error:
        return None
    name, bit, values = bits[best]
    value = 1 if deviates[best] > 0 else 0
    inside: Bools = values == value
    more = _apart(means, inside, np.arange(len(means)))
    named = "library" if name == "library" else "library - caller"
    return Decider(named, 2 << bit, value << bit, (value + 1) << bit, more, p, int(inside[processes].sum()))


def _far_and_near(
    places: Sequence[MemoryPlace], costs: Floats, error: float, draw: np.random.Generator
) -> tuple[list[Decider], Estimate | None]:
    """Whether processes whose program lies far from the library cost more than those where it is near."""
    means: dict[tuple[bool, int], list[float]] = {}
    for place, cost in zip(places, costs, strict=True):
        if place.near != place.far and place.library:  # as it was meant
            means.setdefault((place.far, place.process), []).append(float(cost))
    of_process = np.array([np.mean(values) for values in means.values()])
    far: Bools = np.array([is_far for is_far, _ in means], dtype=bool)
    if min(far.sum(), (~far).sum(), len(far)) < LEAST_SLOW:
        return [], None
    more = _apart(of_process, far, np.arange(len(far)))
    centred = of_process - of_process.mean()
    strength = abs(float(centred[far].sum()))

    def beyond(count: int) -> int:
        rows = draw.permuted(np.tile(centred, (count, 1)), axis=1)
        return int((np.abs(rows[:, far].sum(axis=1)) >= strength - 1e-12).sum())

    p = _p_value(beyond, error)
    if p > error or more.value < LEAST_EFFECT:  # dearer near its library has no reason that anybody knows
        return [], more
    return [
        Decider("distance", 0, 0, 0, more, p, sum(place.far and not place.near for place in places))
    ], more


def share_of(hits: Bools, processes: Ints, level: float = LEVEL) -> Estimate:
    """The share of places that are hit, with Wilson's interval (1927) for as many independent places as they are worth.

    Places of one process may go together: what its process means scatter by tells how many there really are (Kish
    1965), and the quantile is Student's with as many degrees of freedom as there are processes, less one (Korn and
    Graubard 1998). Where none or all are hit, only the processes count.
    """
    n, groups = len(hits), int(processes.max()) + 1
    share = float(hits.mean())
    apart = np.bincount(processes, weights=hits - share)
    variance = groups / max(1, groups - 1) * float(apart @ apart) / n**2
    worth = float(n) if 0 < share < 1 else float(groups)
    if variance > 0:
        worth = min(worth, share * (1 - share) / variance)
    z = t_quantile(level, groups - 1)
    middle = (share + z * z / (2 * worth)) / (1 + z * z / worth)
    half = z * math.sqrt(share * (1 - share) / worth + z * z / (4 * worth**2)) / (1 + z * z / worth)
    return Estimate(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def share_change(before: Estimate, after: Estimate) -> Estimate:
    """By how much one share exceeds another, with the interval that follows from both (Newcombe 1998, method 10)."""
    change = after.value - before.value
    low = math.hypot(after.value - after.low, before.high - before.value)
    high = math.hypot(after.high - after.value, before.value - before.low)
    return Estimate(change, change - low, change + high)


def _apart(costs: Floats, inside: Bools, processes: Ints, level: float = LEVEL) -> Estimate:
    """By how much costs (logarithms) inside exceed the others', as a share; processes are what was drawn."""
    of_in, of_out = float(costs[inside].mean()), float(costs[~inside].mean())
    groups = int(processes.max()) + 1
    weight = np.where(inside, (costs - of_in) / inside.sum(), -(costs - of_out) / (~inside).sum())
    sums = np.bincount(processes, weights=weight, minlength=groups)
    half = t_quantile(level, groups - 1) * math.sqrt(groups / max(1, groups - 1) * float(sums @ sums))
    apart = of_in - of_out
    return Estimate(math.expm1(apart), math.expm1(apart - half), math.expm1(apart + half))


def _quantile(costs: Floats, processes: Ints, share: float) -> Estimate:
    """A quantile of the cost over places; its ends are those of the share below it, inverted (Woodruff 1952)."""
    value = float(np.quantile(costs, share, method="median_unbiased"))
    below = share_of(costs <= value, processes)
    low, high = np.quantile(
        costs, (max(0.0, share - below.value + below.low), min(1.0, share - below.value + below.high))
    )
    return Estimate(math.exp(value), math.exp(min(value, float(low))), math.exp(max(value, float(high))))
