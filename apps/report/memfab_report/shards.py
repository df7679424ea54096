# SPDX-License-Identifier: BSD-3-Clause
"""Cutting the runs of a plan into parts that any batch system starts, and what a part says of itself."""

FILE = 'plan.json'


def header(plan, number, count, mine, host):
  """mine: the runs of this part; host: how it went on this machine."""
  return {**plan.text(), 'shard': number, 'of': count, 'mine': sorted(r.id for r in mine), 'run': host}


def cut(runs, count):
  """Each run is in one; all take about as long. Depends on nothing but the runs."""
  parts, load = [[] for _ in range(count)], [0.0] * count
  for r in sorted(runs, key=lambda r: (-r.seconds, r.id)):
    least = load.index(min(load))
    parts[least].append(r)
    load[least] += r.seconds
  return parts
