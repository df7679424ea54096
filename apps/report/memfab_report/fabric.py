# SPDX-License-Identifier: BSD-3-Clause
"""The fabric files that the figures are made of. EDM is the default stack, so its files do not name it."""
from . import run

RACK_RATE = '100G'
TESTBED_RATE = '25G'
PATIENCE = '1s'  # of the virtual clock: every message is run to its end


def clock(warmup, duration):
  return {'virtual': {'warmup': warmup, 'duration': duration, 'drain': PATIENCE}}


def both_roles(count):
  return [{'name': 'n', 'role': 'both', 'count': count}]


def half_and_half(count):
  return [{'name': 'cn', 'role': 'compute', 'count': count // 2},
          {'name': 'mn', 'role': 'memory', 'count': count - count // 2}]


def rack(stack, nodes, workload, seed, memory, times, scheduler=None):
  """One switch at 100 Gb/s. scheduler: what EDM's is told beside its time, which is that of an ASIC."""
  made = {
      'name': f'rack-{stack}',
      'seed': seed,
      'clock': clock(*times),
      'nodes': nodes,
      'memory': {'size': memory, 'huge_pages': False},
      'link': {'rate': RACK_RATE},
      'workload': [workload],
      'report': {'normalised': True},
  }
  return of_stack(made, stack, {'time': 'asic', **(scheduler or {})})


def pair(stack, workload, seed, times, scheduler=None, **more):
  """The testbed: one compute node, one memory node, 25 Gb/s. scheduler: what EDM's is told."""
  made = {
      'name': f'pair-{stack}',
      'seed': seed,
      'clock': clock(*times),
      'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}],
      'link': {'rate': TESTBED_RATE},
      'workload': [workload],
      **more,
  }
  return of_stack(made, stack, scheduler)


def of_stack(made, stack, scheduler=None):
  if stack != 'edm':
    return {**made, 'stack': stack}
  return {**made, 'scheduler': scheduler} if scheduler else made


def seeded(fabric_of_seed, seeds, seconds):
  """A run a seed."""
  return tuple(run.make(fabric_of_seed(seed), seconds) for seed in range(1, seeds + 1))
