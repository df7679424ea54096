# SPDX-License-Identifier: BSD-3-Clause
"""Results of memfab-emu and memfab-perf as entries of one shape, so that they can stand side by side."""
import os
from dataclasses import dataclass

from . import store
from .failure import MISSHAPEN, Failure

WHERE = {
    'latency': 'from submission to completion',
    'first_block': 'to the first block of the response',
    'from_intended_start': 'from the intended start',
    'effect': 'from submission to the effect in memory',
    'round_trip': 'from submission to completion',
    'acknowledged_round_trip': 'from submission to the acknowledgement',
    'time_to_effect': 'from submission to the effect in memory',
}
GIGABIT = 8e-9
MARK = ', saturated'
NOTHING = {'kinds': {}, 'begun_all': 0, 'completed_all': 0, 'failed_all': 0, 'mismatches': 0}  # of who serves


@dataclass(frozen=True)
class Entry:
  """A run. latencies: {(operation, from where to where): figures}. rates: {operation: (1/s, Gb/s)}."""
  name: str
  file: str
  clock: str
  latencies: dict
  rates: dict
  counts: dict
  config: dict
  run: dict
  at: tuple = ()  # memfab-perf: ('size' or 'delay', value) where several runs make a curve
  carried: tuple = ()  # ends of links over ports, as the result has them
  series: tuple = ()  # links, queues and memories in steps of time, as the result has them
  saturated: bool = False  # less was done than offered: its name says so, too

  def __post_init__(self):
    if self.saturated and not self.name.endswith(MARK):
      object.__setattr__(self, 'name', self.name + MARK)


def read(path):
  """All runs of a file."""
  found = store.read_json(path)
  name = os.path.basename(path)
  try:
    if isinstance(found, dict) and {'result', 'run'} <= found.keys():
      return [of_emu(found, name)]
    if isinstance(found, dict) and {'memfab_perf', 'test', 'runs'} <= found.keys():
      return [of_perf(found['test'], run, name, len(found['runs']) > 1) for run in found['runs']]
  except MISSHAPEN as error:
    raise Failure(f'{path}: not as its schema says: {type(error).__name__}: {error}') from error
  raise Failure(f'{path}: neither a result of memfab-emu nor one of memfab-perf')


def of_emu(found, name):
  result = found['result']
  operations, latencies = result.get('operations', NOTHING), {}
  for kind, figures in operations['kinds'].items():
    for where in ('latency', 'first_block', 'from_intended_start'):
      if where in figures:
        latencies[kind, WHERE[where]] = figures[where]
  effect = result.get('delivery', {}).get('writes', {}).get('effect')
  if effect:
    latencies['write', WHERE['effect']] = effect
  rates = {kind: (figures['rate_per_s'], figures['goodput_gbps'])
           for kind, figures in operations['kinds'].items()}
  counts = {'begun': operations['begun_all'], 'completed': operations['completed_all'],
            'failed': operations['failed_all'], 'wrong data': operations['mismatches']}
  return Entry(name, name, result['clock'], with_counts(latencies), rates, counts, result['config'],
               found['run'], carried=tuple(result.get('carried', ())),
               series=tuple(result.get('series', ())),
               saturated=result.get('load', NOTHING).get('saturated', False))


def of_perf(test, run, name, several):
  latencies = {(l['operation'], WHERE[l['latency']]): l for l in run['latencies']}
  bandwidth = run['bandwidth']
  rates = {'all': (bandwidth['operations_per_s'], bandwidth['average_octets_per_s'] * GIGABIT)}
  counts = {'completed': run['iterations'], 'failed': run['failed'], 'wrong data': run['mismatches']}
  title, at = f'{name}, {test["name"]}', ()
  if 'delay_ps' in run:
    title, at = f'{title}, delay {run["delay_ps"] / 1000:g} ns', ('delay, ns', run['delay_ps'] / 1000)
  elif 'compute' in run:
    title = f'{title}, {run["compute"]} to {run["memory"]}'
  elif several:
    title, at = f'{title}, {run["size"]} B', ('size, octets', run['size'])
  return Entry(title, name, test['clock'], with_counts(latencies), rates, counts, run['config'], run['run'],
               at, saturated=bandwidth.get('saturated', False))


def with_counts(latencies):
  return {key: figures for key, figures in latencies.items() if figures['count']}


def all_of(paths):
  """Of all files; two files of one name are told apart by their folders."""
  if len(set(paths)) != len(paths):
    raise Failure(f'{next(p for p in paths if paths.count(p) > 1)}: named twice')
  names = [os.path.basename(path) for path in paths]
  entries = []
  for path, name in zip(paths, names):
    for entry in read(path):
      shown = path if names.count(name) > 1 else name
      entries.append(Entry(**{**vars(entry), 'name': entry.name.replace(name, shown, 1), 'file': shown}))
  return entries
