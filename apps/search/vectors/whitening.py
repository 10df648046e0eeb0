"""What all texts of a language have in common says nothing about any of them, and so counts less.

A model puts all texts of a kind into a narrow cone, and texts of one store into a narrower one: most of a cosine is what the
whole store is about. Whitening, half of it, looks at a question from where the texts spread evenly. Only the direction that
vectors are compared with changes, never the vectors; what it was worth is in docs/search.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

WIDEST = 1_024  # The work grows with the cube of a vector's length; longer ones are only centred.
FEW = 20  # Texts of a language that tell how its texts spread; of fewer, all languages do.
OWN_MEAN = 1  # So many texts of the language as of all together: from where on its own middle counts half.
EVEN = 0.1  # A share of the mean variance that every direction is given: no question is all about what never varies.
UNSURE = 1_000  # Of so few texts as this, that share is 1 more.
LEAST_SPREAD = 0.02  # Of the length of a direction: texts that all say the same tell no more than that.


@dataclass(frozen=True, slots=True)
class Whitening:
    """Of the texts of one language in the searched scopes.

    ``matrix`` is the inverse square root of their covariance with ``evened`` added to every variance; where that would cost too
    much, ``evened`` is 0 and it is the covariance itself.
    """

    mean: Floats
    matrix: Floats
    evened: float
    rows: int  # How many texts there were.

    def towards(self, question: Floats) -> tuple[Floats, np.float32]:
        """The direction to compare with, and what to take away from each product.

        What is left says how far a text stands out, in standard deviations of all texts.
        """
        centred = question - self.mean
        direction = centred
        if self.evened:
            direction = self.matrix @ centred
            # Of the covariance C, by T = (C + e)^-1/2: the variance of T c is c.(1 - e T T)c.
            variance = float(centred @ centred) - self.evened * float(direction @ direction)
        else:
            variance = float(centred @ self.matrix @ centred)
        length, spread = float(np.linalg.norm(direction)), max(variance, 0.0) ** 0.5
        scaled = (direction / np.float32(max(spread, LEAST_SPREAD * length, 1e-12))).astype(np.float32)
        return scaled, np.float32(scaled @ self.mean)


def whitenings(samples: Sequence[Floats], counts: Sequence[int]) -> list[Whitening]:
    """One for each language, of a sample of its vectors; ``counts`` is how many it has in all."""
    everything = np.concatenate(samples)
    overall = everything.mean(axis=0) if len(everything) else np.zeros(everything.shape[1], np.float32)
    means = [(some.sum(axis=0) + OWN_MEAN * overall) / np.float32(len(some) + OWN_MEAN) for some in samples]
    means = [some.mean(axis=0) if len(some) >= FEW else mean for some, mean in zip(samples, means, strict=True)]
    around = [some - mean for some, mean in zip(samples, means, strict=True)]
    shared: tuple[Floats, float] | None = None
    found = []
    for mean, deviations, count in zip(means, around, counts, strict=True):
        if count >= FEW:
            spread = _spread(deviations)
        else:
            spread = shared = shared or _spread(np.concatenate(around))
        found.append(Whitening(mean, *spread, count))
    return found


def _spread(deviations: Floats) -> tuple[Floats, float]:
    """The covariance's inverse square root as far as it can be told from so many, and what evens it (``Whitening``)."""
    count, dimensions = deviations.shape
    covariance = deviations.T @ deviations / np.float32(max(count, 1))
    mean_variance = float(np.trace(covariance)) / dimensions
    if dimensions > WIDEST or mean_variance <= 0:
        return covariance, 0.0
    variances, directions = np.linalg.eigh(covariance)
    evened = (EVEN + UNSURE / count) * mean_variance
    return (directions * (np.maximum(variances, 0) + np.float32(evened)) ** -0.5) @ directions.T, evened
