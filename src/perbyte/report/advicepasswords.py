"""Password hashes in words: parameters, what others recommend, what an attacker's processor gains."""

from __future__ import annotations

from perbyte.advise import Parameters, PasswordDecision, attacks, beside
from perbyte.model import Estimate
from perbyte.report.advicewords import (
    guesses_text,
    library_text,
    memory_text,
    plain_name,
    status_word,
    time_text,
)
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import number, three_digits

_ENOUGH = 0.995  # of a minimum: parameters are whole numbers


def parameter_texts(decision: PasswordDecision) -> tuple[str, ...]:
    """The parameters of each hash, what they take here, and how many guesses one core makes."""
    return tuple(
        f"{_name(parameters)}: {parameters.words}: {time_text(parameters.time_ns)} a hash, "
        f"{memory_text(parameters.memory_bytes)} a guess; one core like this makes {guesses_text(parameters)} guesses "
        "a second."
        for parameters in decision.parameters
    )


def recommended_texts(decision: PasswordDecision) -> tuple[str, ...]:
    """What others recommend for each hash, what that takes here, and whether the chosen parameters are less."""
    sentences = []
    for parameters in decision.parameters:
        for each in beside(parameters):
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
            sentences.append(
                f"{_name(parameters)}: {each.recommended.words} ({where}) takes {took} on one core here; {verdict}."
            )
    return tuple(sentences)


def attack_texts(decision: PasswordDecision) -> tuple[str, ...]:
    """What a device of an attacker makes of the chosen parameters, against one core like this one."""
    sentences = []
    for parameters in decision.parameters:
        for each in attacks(parameters):
            most = "at the most " if each.rate.bandwidth else ""
            sentences.append(
                f"{_name(parameters)}: a {each.rate.device} makes {most}{three_digits(each.guesses_s)} guesses a "
                f"second at these parameters, ×{three_digits(each.gain)} of one core like this ({each.rate.source})."
            )
    return tuple(sentences)


def password_table(decision: PasswordDecision) -> Listing:
    """A row for each hash with its parameters, here and on an attacker's device."""

    def row(parameters: Parameters, word: str) -> tuple[str, ...]:
        device = attacks(parameters)[:1]
        return (
            _name(parameters),
            parameters.words,
            time_text(parameters.time_ns),
            memory_text(parameters.memory_bytes),
            guesses_text(parameters),
            *(
                (three_digits(each.guesses_s), f"×{three_digits(each.gain)}")
                if (each := next(iter(device), None))
                else ("", "")
            ),
            library_text(parameters.ranked.best),
            word,
        )

    rows = [row(parameters, status_word(parameters.ranked.standing)) for parameters in decision.parameters]
    rows += [row(parameters, "ruled out") for parameters in decision.ruled_out]
    figures = ("time", "memory", "guesses/s", "GPU guesses/s", "GPU gain", "library")
    columns = [Head("hash"), Head("parameters"), *(Head(head, "n") for head in figures)]
    return Listing("Figures", [*columns, Head("status", once=True)], rows, lead=2)


def _name(parameters: Parameters) -> str:
    return plain_name(parameters.ranked.algorithm)
