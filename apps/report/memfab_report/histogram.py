# SPDX-License-Identifier: BSD-3-Clause
"""Latencies of several processes as one: percentiles of all values, from the histograms of each."""
from fractions import Fraction

SUB = 128  # buckets of each power of two (mf_hist.h)
AT = {'p50_ns': 500000, 'p90_ns': 900000, 'p99_ns': 990000, 'p99.9_ns': 999000, 'p99.99_ns': 999900}
PPM = 1000000
NS = 1000


def high(low):
  """The highest value of the bucket whose lowest is low."""
  shift = max(0, low.bit_length() - SUB.bit_length())
  return low + (1 << shift) - 1


def percentile(buckets, most, ppm):
  """By nearest rank, as mf_hist_percentile(). buckets: ascending [lowest, number]; most: the maximum."""
  rank, seen = -(-sum(number for _, number in buckets) * ppm // PPM), 0
  for low, number in buckets:
    seen += number
    if seen >= rank:
      return min(high(low), most)
  return most


def merged(latencies):
  """One latency of the result's of at least one."""
  some = [l for l in latencies if l['count']]
  if len(some) < 2:
    return some[0] if some else latencies[0]
  buckets = {}
  for latency in some:
    for low, number in latency['histogram_ps']:
      buckets[low] = buckets.get(low, 0) + number
  buckets = sorted([low, number] for low, number in buckets.items())
  count, most = sum(l['count'] for l in some), max(l['max_ns'] for l in some)
  mean = sum(Fraction(l['mean_ns']) * l['count'] for l in some) / count
  return {'count': count, 'mean_ns': float(mean), 'min_ns': min(l['min_ns'] for l in some),
          **{key: percentile(buckets, round(most * NS), ppm) / NS for key, ppm in AT.items()},
          'max_ns': most, 'histogram_ps': buckets}
