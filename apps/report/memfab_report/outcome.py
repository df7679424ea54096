# SPDX-License-Identifier: BSD-3-Clause
"""What a figure takes from a result of memfab-emu."""
from dataclasses import dataclass


class Missing(Exception):
  """Why a cell has no value."""


@dataclass(frozen=True)
class Flow:
  """Of the whole run, warm-up and drain included. Octets offered: of operations that have begun."""
  offered: int
  completed: int
  failed: int
  octets_offered: int
  octets_completed: int
  octets_failed: int


@dataclass(frozen=True)
class Load:
  """Of the steady state. achieved: octets completed over octets offered; wire, payload: offered (D17)."""
  achieved: float
  saturated: bool
  wire: float
  payload: float


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


def of_messages(result):
  """What became of all whole messages; each beside what it takes alone in the same fabric, same stack."""
  found = result.get('messages', {})
  if 'normalised' not in found.get('all', {}):
    raise Missing('no message was measured')
  return found


def normalised(result, _=None):
  return of_messages(result)['all']['normalised']['mean']


def flow(result):
  phases = [result['phases'][name] for name in ('warmup', 'steady', 'drain')]
  return Flow(*(sum(phase[unit][what] for phase in phases)
                for unit in ('messages', 'octets') for what in ('offered', 'completed', 'failed')))


def load(result):
  found = result['load']
  if 'offered' not in found:
    raise Missing('a closed loop has no load')
  offered = found['flow']['offered_gbps']
  return Load(found['flow']['completed_gbps'] / offered if offered else 1.0, found['saturated'],
              found['offered']['wire'], found['offered']['payload'])


def requests_per_s(result):
  return sum(k['rate_per_s'] for k in result['operations']['kinds'].values())
