# SPDX-License-Identifier: Apache-2.0
"""Whether two samples of photons are of one distribution."""
import math

import numpy


def chi_square_probability(chi_square, freedom):
    """That a chi-square of so many degrees of freedom is larger: the incomplete gamma function (Abramowitz and Stegun,
    6.5.29 and 6.5.31)."""
    a, x = freedom / 2, chi_square / 2
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > 1e-15 * total:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - front * total)
    # Lentz's way through the continued fraction.
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, 100000):
        b += 2
        d = 1 / (b - i * (i - a) * d)
        c = b - i * (i - a) / c
        h *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return front * h


def compare_counts(a, b):
    """Chi-square of two tables of counts, its degrees of freedom, and its probability."""
    a, b = numpy.asarray(a, float), numpy.asarray(b, float)
    there = a + b > 0
    a, b = a[there], b[there]
    # The totals may differ, where only some photons are counted.
    share = a.sum() / (a.sum() + b.sum())
    expected = share * (a + b)
    chi_square = ((a - expected)**2 / expected + (b - (a + b) + expected)**2 / (a + b - expected)).sum()
    freedom = len(a) - 1
    return chi_square, freedom, chi_square_probability(chi_square, freedom) if freedom else 1.0


def compare_keys(a, b, floor=30):
    """Two samples of keys. Those that occur no more than `floor` times in both together are one of the rest."""
    keys, place = numpy.unique(numpy.concatenate([a, b]), return_inverse=True)
    in_a = numpy.bincount(place[:len(a)], minlength=len(keys))
    in_b = numpy.bincount(place[len(a):], minlength=len(keys))
    rare = in_a + in_b <= floor
    count_a, count_b = numpy.append(in_a[~rare], in_a[rare].sum()), numpy.append(in_b[~rare], in_b[rare].sum())
    worst = keys[~rare][numpy.argsort(-(in_a - in_b)[~rare]**2 / (in_a + in_b)[~rare])[:8]]
    return compare_counts(count_a, count_b), [(key, int(in_a[keys == key][0]), int(in_b[keys == key][0])) for key in worst]


def compare_means(a, b):
    """The difference of two samples' means, in standard errors; 0 where both are the same number throughout."""
    error = math.sqrt(a.var() / len(a) + b.var() / len(b))
    difference = a.mean() - b.mean()
    return 0.0 if abs(difference) <= 1e-6 * (1 + abs(a.mean())) else difference / max(error, 1e-300)
