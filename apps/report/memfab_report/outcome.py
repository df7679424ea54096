# SPDX-License-Identifier: BSD-3-Clause
"""What a figure takes from a result of memfab-emu."""
from dataclasses import dataclass

KEPT_UP = 0.98  # blocks sent over blocks offered in the measured time; below: saturated


class Missing(Exception):
  """Why a cell has no value."""


@dataclass(frozen=True)
class Counts:
  offered: int
  completed: int
  failed: int


def latencies(result):
  """{kind: latency}: from the intended start; of a write to its effect at the memory node."""
  found = {}
  for kind, figures in result['operations']['kinds'].items():
    found[kind] = figures.get('from_intended_start', figures['latency'])
  effect = result.get('delivery', {}).get('writes', {}).get('effect')
  if 'write' in found and effect:
    found['write'] = effect
  found = {kind: latency for kind, latency in found.items() if latency['count']}
  if not found:
    raise Missing('no operation was measured')
  return found


def mean_ns(result):
  found = latencies(result).values()
  return sum(l['mean_ns'] * l['count'] for l in found) / sum(l['count'] for l in found)


def normalised(result, alone):
  """Mean of each operation's latency over that of its kind alone."""
  now, unloaded = latencies(result), latencies(alone)
  if not now.keys() <= unloaded.keys():
    raise Missing('the run alone has not all kinds of operations')
  share = sum(l['mean_ns'] / unloaded[kind]['mean_ns'] * l['count'] for kind, l in now.items())
  return share / sum(l['count'] for l in now.values())


def counts(result):
  """Of the whole run, warm-up and drain included."""
  operations = result['operations']
  return Counts(operations['begun_all'], operations['completed_all'], operations['failed_all'])


def requests_per_s(result):
  return sum(k['rate_per_s'] for k in result['operations']['kinds'].values())


def achieved(result):
  """Blocks that were sent in the measured time, over those of the operations that were begun in it."""
  operations, links = result['operations'], result['links']
  begun = sum(k['begun'] for k in operations['kinds'].values())
  blocks = result['control']['memory_blocks']
  if not begun or not blocks or not operations['completed_all']:
    raise Missing('nothing was offered')
  sent = sum(links[d]['memory_blocks'] for d in ('to_switch', 'from_switch'))
  return sent * operations['completed_all'] / (blocks * begun)
