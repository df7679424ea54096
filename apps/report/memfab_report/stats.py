# SPDX-License-Identifier: BSD-3-Clause
"""Mean and 95 % interval of a few seeds, and the CDF of a histogram."""
import math
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
  """Mean over seeds; half: half of its 95 % interval, None of one seed alone."""
  mean: float
  half: float | None
  count: int


def student_density(t, freedom):
  scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
  return math.exp(scale) / math.sqrt(freedom * math.pi) * (1 + t * t / freedom) ** (-(freedom + 1) / 2)


def student_between(t, freedom, steps=2000):
  """Probability of -t to t, by Simpson's rule."""
  width = t / steps
  inner = sum((4 if i % 2 else 2) * student_density(i * width, freedom) for i in range(1, steps))
  return 2 * width / 3 * (student_density(0, freedom) + inner + student_density(t, freedom))


def student_quantile(freedom, confidence=CONFIDENCE):
  """The t with so much of Student's distribution between -t and t."""
  low, high = 0.0, 1.0
  while student_between(high, freedom) < confidence:
    high *= 2
  for _ in range(50):
    middle = (low + high) / 2
    low, high = (middle, high) if student_between(middle, freedom) < confidence else (low, middle)
  return (low + high) / 2


QUANTILES = {}


def estimate(values):
  """Of one value a seed, at least one."""
  values = list(values)
  count, mean = len(values), math.fsum(values) / len(values)
  if count == 1:
    return Estimate(mean, None, 1)
  if count not in QUANTILES:
    QUANTILES[count] = student_quantile(count - 1)
  variance = math.fsum((v - mean) ** 2 for v in values) / (count - 1)
  return Estimate(mean, QUANTILES[count] * math.sqrt(variance / count), count)


def difference(ours, published, upto=None):
  """Relative, in percent, to the nearer end of what was published; None without anything to compare with."""
  if published is not None and upto is not None:
    published = min(max(ours, published), upto)
  return (ours - published) / published * 100 if published else None


def cdf(histogram):
  """[[lowest value of a bucket, number]] as two lists: value, share of all that is not above its bucket."""
  total = sum(number for _, number in histogram)
  values, shares, seen = [], [], 0
  for value, number in sorted(histogram):
    seen += number
    values.append(value)
    shares.append(seen / total)
  return values, shares
