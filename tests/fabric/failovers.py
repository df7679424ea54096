#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two switches, a compute and a memory node, each a process of its own. The switch that schedules is killed
under load, without a word, and started again with nothing; then the other one, and so on. No operation fails,
none is done twice, no read finds wrong data.

  failovers.py EMU ROOT [--kills N] [--over memif|veth] [--seed N]

Without options a few, as a test. Prints a table: the longest read of a round with kills, of one without, and
the difference.
"""
import argparse
import os
import random
import time

from emu import Emu, Tap, why
from parts import NODES, WAIT, Folder, Group, Spaces, fabric, write

SWITCHES = ('sw0', 'sw1')
A_ROUND = 10  # kills between two looks at the result
SILENCE = 1.0  # until a link whose partner says nothing is down, seconds
LONGEST = {'memif': 2.0, 'veth': 4.0}  # of an operation; a switch that is back knows all when it is over
HEAD = ('kills', 'take-overs', 'completed', 'verified', 'failed', 'wrong', 'usual ms', 'longest ms',
        'bump ms')


def options():
  parser = argparse.ArgumentParser(description='Kills the switches of a fabric in turn.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--kills', type=int)
  parser.add_argument('--over', choices=('memif', 'veth'), default='memif')
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def memif():
  """Ports of the links to both switches, which are the servers."""
  ports = []
  for k, switch in enumerate(SWITCHES):
    for number, node in enumerate(NODES):
      socket = f'socket=memfab-failovers-{os.getpid()}-{node}-{switch}'
      ports += [{'name': f'{node}-{switch}', 'device': f'net_memif{k},role=client,{socket}'},
                {'name': f'{switch}-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
  return ports


def veth():
  """The same: a pair of devices for each link."""
  ports = []
  for k, switch in enumerate(SWITCHES):
    for number, node in enumerate(NODES):
      ports += [{'name': f'{node}-{switch}', 'device': f'net_af_packet{k},iface={node}{k}'},
                {'name': f'{switch}-{node}', 'device': f'net_af_packet{number},iface={switch}{number}'}]
  return ports


def carried(switch):
  return [{'node': node, 'carried': {'node': f'{node}-{switch}', 'switch': f'{switch}-{node}',
                                     'hello': '20ms', 'silence': f'{SILENCE * 1000:.0f}ms',
                                     'replay_max': '20ms'}} for node in NODES]


def config(ports, over):
  made = fabric(ports, {}, duration='1000s', scheduler={'x': 16})
  made['clock']['wall']['warmup'] = '1s'  # while all of them agree on an epoch: what begins then may fail
  made['links'] = carried('sw0')
  made['backup'] = {'links': carried('sw1')}
  made['host'] = {key: f'{LONGEST[over] * 1000:.0f}ms' for key in ('read_timeout', 'write_timeout')}
  made['workload'][0] = {'mix': {'read': 4, 'write': 2, 'write_ack': 2, 'cas': 1, 'fadd': 1}, 'depth': 8,
                         'span': '64KiB', 'size': {'dist': 'uniform', 'min': 8, 'max': 3000}}
  return made


class Veth(Spaces):
  """A namespace for each role."""

  def __init__(self):
    super().__init__()
    self.space = {role: f'{self.name}{role}' for role in (*SWITCHES, *NODES)}

  def __enter__(self):
    if os.getuid() != 0:
      self.reason = 'network namespaces need root'
    for space in self.space.values():
      self.do(f'ip netns add {space}')
    for k, switch in enumerate(SWITCHES):
      for number, node in enumerate(NODES):
        self.pair(self.space[node], f'{node}{k}', self.space[switch], f'{switch}{number}')
    return self

  def before(self):
    return {role: self.inside(role) for role in self.space}


def longest(result):
  """Of a read, ms."""
  return result['operations']['kinds']['read']['latency']['max_ns'] / 1e6


def failed(result):
  """Of what was begun behind the warm-up, in which nobody is killed."""
  phases = result['phases']
  return phases['steady']['messages']['failed'] + phases['drain']['messages']['failed']


def judge(results, kills):
  """@return why the round was not good, or nothing"""
  done, ours = results['cn']['operations'], results['cn']['backup']
  reasons = {
    f'{failed(results["cn"])} operations failed: {done["failed_by_cause"]}': failed(results['cn']) > 0,
    f'{done["mismatches"]} reads found wrong data': done['mismatches'] > 0,
    'nothing was verified': done['verified'] == 0,
    f'{ours["epoch"]} epochs in {kills} kills': ours['epoch'] < kills,
    f'{results["cn"]["phases"]["end"]["under_way"]} operations are not over':
      results['cn']['phases']['end']['under_way'] > 8}
  return '; '.join(reason for reason, bad in reasons.items() if bad)


class Table:
  def __init__(self):
    self.total = [0] * len(HEAD)
    self.line(HEAD)

  @staticmethod
  def line(cells):
    print('# ' + ' '.join(f'{cell:>11}' for cell in cells), flush=True)

  def add(self, kills, usual, result):
    done = result['operations']
    row = (kills, result['backup']['epoch'], done['completed_all'], done['verified'], failed(result),
           done['mismatches'], round(usual), round(longest(result)), round(longest(result) - usual))
    self.line(row)
    self.total = [max(a, b) if ' ms' in head else a + b for head, a, b in zip(HEAD, self.total, row)]

  def end(self):
    self.line(self.total)


def both_up(group, switch, again):
  """@param again  it was there before"""
  text = f'is up ({switch}{", again" if again else ""})'
  return all(group.waits_for(node, text, times=again or 1) for node in NODES)


def one_round(group, path, rng, kills, longest_time):
  """@return results of the nodes; None: there are none"""
  for role in (*SWITCHES, *NODES):
    group.start(role, path)
  if not all(both_up(group, switch, 0) for switch in SWITCHES):
    return None
  time.sleep(1.5)
  for kill in range(kills):
    time.sleep(longest_time + 1 + rng.uniform(0, 0.5))  # a switch is in its place some time after its links
    switch = SWITCHES[kill % 2]
    group.kill(switch)
    if not all(group.waits_for(node, f'{node}-{switch} is down', times=kill // 2 + 1) for node in NODES):
      return None
    time.sleep(rng.choice((0, 0.5)) * rng.random())
    group.start(switch, path)
    if not both_up(group, switch, kill // 2 + 1):
      return None
  time.sleep(0.5)
  # The client before those that it needs, or what it has under way fails for their leaving.
  group.interrupt('cn')
  group.running['cn'].wait(WAIT)
  group.interrupt(*SWITCHES, 'mn')
  group.end()
  results = {node: group.result(node) for node in NODES}
  return results if None not in results.values() else None


def kills(tap, emu, ports, before, args):
  rng, number, faults, table, usual = random.Random(args.seed), 0, [], Table(), None
  while number < args.kills:
    n = min(A_ROUND, args.kills - number) if usual is not None else 0
    number += n
    with Folder() as folder:
      group = Group(emu, folder, before)
      results = one_round(group, write(folder, 'fabric.json', config(ports, args.over)), rng, n,
                          LONGEST[args.over])
      for role in group.running:
        group.kill(role)
      fault = judge(results, n) if results is not None else 'no result'
      faults += [f'{fault}\n{group.all_said({})}'] if fault else []
      usual = usual if usual is not None else longest(results['cn']) if results is not None else 0
      if results is not None:
        table.add(n, usual, results['cn'])
  table.end()
  tap.ok(not faults, f'{args.over}: switches killed {number} times, nothing is lost or wrong, '
         f'seed {args.seed}', '\n'.join(faults[:2]))


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if process.returncode != 0:
    tap.skip('failovers', 'EAL does not start: ' + why(process)[:200])
    tap.done()
  few, over = args.kills is None, args.over
  args.kills = 3 if few else args.kills
  if few or over == 'memif':
    args.over = 'memif'
    kills(tap, emu, memif(), {}, args)
  if few or over == 'veth':
    args.over = 'veth'
    with Veth() as spaces:
      if spaces.reason:
        tap.skip('veth', spaces.reason)
      else:
        kills(tap, emu, veth(), spaces.before(), args)
  tap.done()


main()
