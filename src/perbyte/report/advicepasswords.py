"""Password hashes in words: parameters, what others recommend, what an attacker's processor gains."""

from __future__ import annotations

from perbyte.advise import Parameters, PasswordDecision, attacks, beside
from perbyte.model import Estimate
from perbyte.report.advicewords import guesses_text, library_text, memory_text, status_word, time_text
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import number, three_digits

_ENOUGH = 0.995  # of a minimum: parameters are whole numbers


def parameter_texts(found: PasswordDecision) -> tuple[str, ...]:
    """The parameters of each hash, what they take here, and how many guesses one core makes."""
    return tuple(
        f"{one.ranked.algorithm.name.partition(',')[0]}: {one.words}: {time_text(one.time_ns)} a hash, "
        f"{memory_text(one.memory_bytes)} a guess; one core like this makes {guesses_text(one)} guesses a second."
        for one in found.parameters
    )


def recommended_texts(found: PasswordDecision) -> tuple[str, ...]:
    """What others recommend for each hash, what that takes here, and whether the chosen parameters are less."""
    said = []
    for one in found.parameters:
        for each in beside(one):
            where = (
                f"{each.recommended.who}, section {each.recommended.section}, {each.recommended.published}"
            )
            least = each.recommended.least and each.share < _ENOUGH
            verdict = (
                f"what is chosen here is less than this minimum, ×{number(each.share)} of its work"
                if least
                else f"what is chosen here is ×{number(each.share)} of its work"
            )
            took = time_text(Estimate(each.time_ns, each.time_ns, each.time_ns))
            said.append(f"{_name(one)}: {each.recommended.words} ({where}) takes {took} here; {verdict}.")
    return tuple(said)


def attack_texts(found: PasswordDecision) -> tuple[str, ...]:
    """What a device of an attacker makes of the chosen parameters, against one core like this one."""
    said = []
    for one in found.parameters:
        for each in attacks(one):
            most = "at the most " if each.rate.bandwidth else ""
            said.append(
                f"{_name(one)}: a {each.rate.device} makes {most}{three_digits(each.guesses_s)} guesses a second at "
                f"these parameters, ×{three_digits(each.gain)} of one core like this ({each.rate.source})."
            )
    return tuple(said)


def password_table(found: PasswordDecision) -> Listing:
    """A row for each hash with its parameters, here and on an attacker's device."""

    def row(one: Parameters, word: str) -> tuple[str, ...]:
        device = attacks(one)[:1]
        return (
            _name(one),
            one.words,
            time_text(one.time_ns),
            memory_text(one.memory_bytes),
            guesses_text(one),
            *(
                (three_digits(each.guesses_s), f"×{three_digits(each.gain)}")
                if (each := next(iter(device), None))
                else ("", "")
            ),
            library_text(one.ranked.best),
            word,
        )

    rows = [row(one, status_word(one.ranked.standing)) for one in found.parameters]
    rows += [row(one, "ruled out") for one in found.ruled_out]
    figures = ("time", "memory", "guesses/s", "GPU guesses/s", "GPU gain", "library")
    columns = [Head("hash"), Head("parameters"), *(Head(head, "n") for head in figures)]
    return Listing("Figures", [*columns, Head("status", once=True)], rows, lead=2)


def _name(one: Parameters) -> str:
    return one.ranked.algorithm.name.partition(",")[0]
