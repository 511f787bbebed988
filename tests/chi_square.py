"""Whether counts are what chance makes of equally likely things."""

import numpy as np

FAR = 5.0  # standard deviations; chance alone goes that far once in millions of tests


def deviation(counts, expected=None, degrees=None, scale=1.0):
    """How many standard deviations chi-square lies above its mean; all counts are equally likely, unless expected."""
    counts = np.asarray(counts, float)
    expected = counts.mean() if expected is None else expected
    degrees = counts.size - 1 if degrees is None else degrees
    return (scale * ((counts - expected) ** 2 / expected).sum() - degrees) / np.sqrt(2 * degrees)
