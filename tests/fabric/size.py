#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How large a fabric of frames may be, and what it takes: address space and memory of the process.

By itself it is a test: idle nodes, and a fat tree whose memories are sinks. With --figures it runs fat trees
of 16 to 4,096 servers for 100 us at a load of 0.7, and prints memory, and CPU time per packet and hop:

    python3 tests/fabric/size.py build/apps/emu/memfab-emu . --figures
"""
import json
import os
import subprocess
import sys
import tempfile

from emu import Tap
from messages import write

NODES, PORTS = 4096, 512
IDLE_RESIDENT, TREE_RESIDENT, FULL_RESIDENT = 1536 << 20, 3 << 30, 8 << 30
IDLE_SECONDS = 5
# Of SRNIC (section 6.3): servers, then (ToR, aggregation, core) switches and pods.
TREES = {16: {'tor': 1}, 256: {'tor': 8, 'aggregation': 8},
         1024: {'tor': 64, 'aggregation': 64, 'core': 16, 'pods': 16},
         4096: {'tor': 128, 'aggregation': 128, 'core': 64, 'pods': 16}}
FIGURES = {16: '10ms', 256: '600us', 1024: '200us', 4096: '100us'}  # few packets would tell nothing
HOP_MOST = 2.5  # times that of the smallest


def idle(stack, count):
  return {'stack': stack, 'clock': {'virtual': {'warmup': '0', 'duration': '1us'}},
          'nodes': [{'name': 'n', 'role': 'both', 'count': count, 'memory': {'size': '4KiB'}}]}


def tree(servers, load, duration, kind='sink'):
  """Reads and writes of 1 octet to 16 KiB, each to any other server."""
  shape = TREES[servers]
  rates = {layer: rate for layer, rate in (('tor', '100G'), ('aggregation', '400G'), ('core', '400G'))
           if layer in shape}
  return {'stack': 'rocev2', 'clock': {'virtual': {'warmup': '0', 'duration': duration}},
          'topology': {'fat-tree': {'servers': servers, 'rates': rates, 'propagation': '1us'} | shape},
          'memory': {'type': kind, 'size': '8GiB'},
          'nodes': [{'name': 's', 'role': 'both', 'count': servers}],
          'workload': [{'mix': {'read': 1, 'write_ack': 1}, 'loop': 'open', 'load': load,
                        'size': {'dist': 'uniform', 'min': 1, 'max': 16384}}]}


class Run:
  """A run, and what its process took."""

  def __init__(self, program, folder, config):
    out, err = os.path.join(folder, 'result.json'), os.path.join(folder, 'errors')
    # MALLOC_PERTURB_ writes to all that is allocated, so that none of it stays untouched.
    env = {key: value for key, value in os.environ.items() if key != 'MALLOC_PERTURB_'}
    args = [program, '--clock', 'virtual', '--json', out, write(folder, 'size.json', config)]
    with open(err, 'wb') as errors, \
         subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=errors, env=env) as process:
      _, status, usage = os.wait4(process.pid, 0)
      process.returncode = self.status = os.waitstatus_to_exitcode(status)
    self.resident = usage.ru_maxrss << 10
    self.seconds = usage.ru_utime + usage.ru_stime
    self.result = {}
    with open(err, encoding='utf-8') as file:
      self.errors = file.read()
    if self.status == 0:
      with open(out, encoding='utf-8') as file:
        self.result = json.load(file)

  def operations(self):
    return self.result.get('result', {}).get('operations', {})

  def is_sound(self):
    operations = self.operations()
    return (self.status == 0 and operations.get('mismatches') == operations.get('failed_all') == 0 and
            operations.get('verified', 0) > 0 and operations['sinks']['writes'] > 0 and
            operations['sinks']['wrong'] == 0)

  def packets(self):
    """Packets, and links that they crossed: to each switch, and from the last one to the node."""
    result = self.result['result']
    packets = result['stack']['counters']['packets_sent']
    return packets, packets + result['bridge']['counters']['frames']


def sizes(program, folder, tap):
  run = Run(program, folder, idle('rocev2', NODES))
  tap.ok(run.status == 0, f'{NODES} idle nodes', run.errors)
  tap.ok(run.resident <= IDLE_RESIDENT, f'they take {IDLE_RESIDENT} octets of memory at most', run.resident)
  for stack in ('tcp', 'ethernet', 'pfabric', 'ird', 'fastpass'):
    run = Run(program, folder, idle(stack, NODES - (stack == 'fastpass')))  # its arbiter is a node, too
    tap.ok(run.status == 0, f'{stack}: {NODES} idle nodes', run.errors)
    tap.ok(run.resident <= IDLE_RESIDENT, f'{stack}: and their memory', run.resident)
  run = Run(program, folder, tree(NODES, 0.3, '1us'))
  tap.ok(run.is_sound(), f'a fat tree of {NODES} servers, of which each has a sink', run.errors)
  tap.ok(run.resident <= TREE_RESIDENT, f'it takes {TREE_RESIDENT} octets of memory at most', run.resident)
  run = Run(program, folder, idle('cxl', PORTS + 1))
  tap.ok(run.status == 2 and f'at most {PORTS}' in run.errors, 'a stack of messages has fewer', run.errors)


def figures(program, folder):
  run = Run(program, folder, idle('rocev2', NODES))
  good = run.status == 0 and run.seconds <= IDLE_SECONDS and run.resident <= IDLE_RESIDENT
  print(f'{NODES} idle nodes: {run.seconds:.1f} s of CPU, {run.resident >> 20} MiB')
  print('servers  duration     packets        hops  CPU of the run  per packet and hop  memory')
  least = None
  for servers, duration in FIGURES.items():
    run = Run(program, folder, tree(servers, 0.7, duration))
    if not run.is_sound():
      print(f'{servers}: {run.errors}')
      return 1
    packets, hops = run.packets()
    seconds = float(run.result['run']['cpu_seconds'])
    least = least or seconds / hops
    print(f'{servers:7,}  {duration:>8}  {packets:10,}  {hops:10,}  {seconds:12.1f} s  '
          f'{1e9 * seconds / hops:6.0f} ns, {seconds / hops / least:4.2f} x  {run.resident >> 20:5,} MiB',
          flush=True)
    good = good and seconds / hops <= HOP_MOST * least and run.resident <= FULL_RESIDENT
  print('all goals are met' if good else 'a goal is missed')
  return 0 if good else 1


def main(program, root, option='none'):
  del root
  tap = Tap()
  with tempfile.TemporaryDirectory() as folder:
    if option == '--figures':
      return figures(program, folder)
    if option != 'none':
      tap.skip('what large fabrics take', 'sanitizers take memory of their own')
    else:
      sizes(program, folder, tap)
  tap.done()
  return 0


if __name__ == '__main__':
  sys.exit(main(*sys.argv[1:]))
