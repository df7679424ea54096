# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of the messages of five applications, as the paper's artifact has them: (share, 1,460 octets)."""

UNIT = 1460
SIZES = {
    'hadoop': ((0.6, 4), (0.7, 4), (0.8, 88), (0.9, 167), (1.0, 920)),
    'spark': ((0.6, 4), (0.7, 4), (0.8, 13), (0.9, 220), (1.0, 930)),
    'sparksql': ((0.6, 4), (0.7, 7), (0.8, 83), (0.9, 140), (1.0, 980)),
    'graphlab': ((0.6, 4), (0.7, 4), (0.8, 88), (0.9, 167), (1.0, 1080)),
    'memcached': ((0.6, 4), (0.7, 4), (0.8, 64), (0.9, 296), (1.0, 1216)),
}


def distribution(name):
  """For the key size of a workload."""
  return {'dist': 'cdf', 'unit': UNIT, 'points': [list(point) for point in SIZES[name]]}


def mean_octets(name):
  """Linear between the points; what the first point says has its size."""
  points = SIZES[name]
  total = points[0][0] * points[0][1]
  for (p0, s0), (p1, s1) in zip(points, points[1:]):
    total += (p1 - p0) * (s0 + s1) / 2
  return total * UNIT
