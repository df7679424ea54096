#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Switches in processes of their own: three in a chain over memif, a compute node at one end, a memory node
at the other. Reads, writes and atomics are verified; each process is killed in turn, without a word, and
comes back: operations complete or fail, none is wrong, and they go on. Skipped where EAL cannot start.

  chains.py EMU ROOT [--kills N] [--seed N]

Without --kills a few, and however long it takes on a busy machine; with it operations have to go on within a
second, and the longest time is printed.
"""
import argparse
import os
import random
import time

from emu import Emu, Tap, need_eal, why
from parts import WAIT, Folder, Group, write
from reader import Reader, prefix_in

SWITCHES = ('left', 'middle', 'right')
LINKS = (('cn', 'left'), ('left', 'middle'), ('middle', 'right'), ('right', 'mn'))
APART = ('cn', *SWITCHES, 'mn')
RACKS = ('left,cn', 'middle', 'right,mn')
TIMER = 500  # ms, of operations
AGAIN = 1  # s
CAUSES = {'timeout', 'unknown'}


def options():
  parser = argparse.ArgumentParser(description='Plays several switches in several processes.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--kills', type=int)
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def memifs():
  """A port at each end of each link; the second one is the server."""
  servers, clients, ports = {}, {}, []
  for a, b in LINKS:
    socket = f'socket=memfab-chain-{os.getpid()}-{a}-{b},id=0'
    for own, other, role, number in ((a, b, 'client', clients), (b, a, 'server', servers)):
      # Of one process no two devices may have one name.
      at = number[own] = number.get(own, 0 if role == 'client' else 1)
      ports.append({'name': f'{own}-{other}', 'device': f'net_memif{at},role={role},{socket}'})
  return ports


def fabric(apart, **more):
  """@param apart  nodes are in other processes than switches"""
  quick = {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  ports = [p for p in memifs() if apart or not {'cn', 'mn'} & set(p['name'].split('-'))]
  links = [{'between': [a, b], 'carried': {'between': [f'{a}-{b}', f'{b}-{a}'], **quick}}
           for a, b in LINKS[1:3]]
  links += [{'node': node, 'carried': {'node': f'{node}-{switch}', 'switch': f'{switch}-{node}', **quick}}
            for node, switch in (('cn', 'left'), ('mn', 'right')) if apart]
  return {'stack': 'rocev2', 'ports': ports, 'links': links, 'watchdog': '0',
          'switches': [{'name': name} for name in SWITCHES],
          'nodes': [{'name': 'cn', 'role': 'compute', 'ends': [{'to': 'left'}]},
                    {'name': 'mn', 'role': 'memory', 'ends': [{'to': 'right'}]}],
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'clock': {'wall': {'warmup': '0', 'duration': '100s', 'drain': '60s'}},
          'workload': [{'mix': {'read': 2, 'write': 1, 'cas': 1, 'fadd': 1}, 'size': 500, 'span': '64KiB',
                        'depth': 2, 'operations': 2000}], **more}


def whole(tap, emu, what, parts, apart):
  """All that is begun completes and is verified, and all processes end by themselves."""
  with Folder() as folder:
    group = Group(emu, folder)
    path = write(folder, 'fabric.json', fabric(apart))
    for part in random.sample(parts, len(parts)):
      group.start(part, path)
    status = group.end()
    client = next(part for part in parts if part.endswith('cn'))
    result = group.result(client)
    if not tap.ok(not any(status.values()) and None not in status.values() and result is not None,
                  f'{what}: all end well', group.all_said(status)):
      return
    done = result['operations']
    tap.ok(done['completed_all'] == done['begun_all'] == 2000 and done['verified'] > 0 == done['mismatches'],
           f'{what}: all complete and are verified', {key: n for key, n in done.items() if key != 'kinds'})
    middle = group.result('middle')
    names = sorted((*end['between'], end['end'], end['port']) for end in middle['carried'])
    tap.ok(middle['roles'] == ['middle'] and names == [
      ('left', 'middle', 'middle', 'middle-left'), ('middle', 'right', 'middle', 'middle-right')],
      f'{what}: links between switches by name', names)


def far_away(tap, emu):
  """Nobody begins while a process is away that has no link to one's own; then all is done as ever."""
  with Folder() as folder:
    group, path = Group(emu, folder), write(folder, 'fabric.json', fabric(True))
    for role in ('cn', 'left', 'middle'):
      group.start(role, path)
    waits = group.waits_for('left', 'middle at port left-middle (which waits for others)')
    tap.ok(waits and group.waits_for('cn', 'left at port cn-left (which waits for others)'),
           'a switch further away is missing: who waits for it says so', group.all_said({}))
    for role in ('right', 'mn'):
      group.start(role, path)
    status, result = group.end(), group.result('cn')
    tap.ok(not any(status.values()) and result and result['operations']['completed_all'] == 2000 and
           result['operations']['failed_all'] == 0, 'and then all complete', group.all_said(status))


def refused(tap, emu):
  """What is missing is said in one line."""
  with Folder() as folder:
    config = fabric(True)
    config['links'] = config['links'][1:]
    config['links'].append({'between': ['left', 'middle']})
    config['ports'] = [p for p in config['ports'] if p['name'] not in ('left-middle', 'middle-left')]
    process = emu.run('--run', 'left', write(folder, 'fabric.json', config))
    line = [text for text in process.stderr.splitlines() if text.startswith('memfab-emu: ')]
    tap.ok(process.returncode == 1 and len(line) == 1 and "'left' and 'middle' are in different processes" in
           line[0] and 'carried.between' in line[0], 'a link without ports: one line', why(process))
    long = {**fabric(True), 'switches': [{'name': 's', 'count': 8}], 'ports': fabric(True)['ports'][2:4]}
    long['nodes'] = [dict(node, ends=[{'to': f's{n}'}]) for node, n in zip(long['nodes'], (0, 7))]
    long['links'] = [{'between': [f's{n}', f's{n + 1}']} for n in range(7)]
    long['links'][0]['carried'] = {'between': ['left-middle', 'middle-left']}
    process = emu.run('--run', 's0,cn', write(folder, 'long.json', long))
    said = 'up to 7 links between switches, or nodes, from each other: at most 6'
    tap.ok(process.returncode == 1 and said in process.stderr,
           'eight switches in a row: too many', why(process))


class Chain:
  """Processes of a chain that a client goes on and on over."""

  def __init__(self, emu, folder, **more):
    config = fabric(True, **more)
    config['host'] = {'read_timeout': f'{TIMER}ms', 'write_timeout': f'{TIMER}ms'}
    config['clock']['wall']['duration'] = '1000s'
    del config['workload'][0]['operations']
    self.group, self.path = Group(emu, folder), write(folder, 'fabric.json', config)
    self.faults, self.longest = [], 0
    for role in APART:
      self.start(role)
    self.reader = self.open_reader()

  def start(self, role):
    self.group.start(role, self.path, *(('--telemetry',) if role == 'cn' else ()))

  def open_reader(self):
    """Once the client has said how it is to be asked."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
      found = prefix_in(self.group.says('cn'))
      if found:
        return Reader(found)
      time.sleep(0.02)
    raise RuntimeError(self.group.all_said({}))

  def completed(self):
    counts = self.reader.get('fabric') or {}  # it is there when all have met
    return counts.get('operations', {}).get('completed_all', 0)

  def goes_on(self, before, limit):
    """Until more is completed than before. @return seconds, or None"""
    begin = time.monotonic()
    while time.monotonic() < begin + limit:
      if self.completed() > before:
        return time.monotonic() - begin
      time.sleep(0.01)
    return None

  def kill(self, role, rng, limit):
    """And starts it again; all its links are up, and operations go on."""
    links = sum(role in link for link in LINKS)
    time.sleep(0.2 * rng.random())
    self.group.kill(role)
    time.sleep(0.3 * rng.random())
    for other, process in self.group.running.items():
      if other != role and process.poll() is not None:
        self.faults.append(f'{other} ended with {process.returncode}: {self.group.said(other)[-1000:]}')
    self.start(role)
    if role == 'cn':
      self.reader.close()
      self.reader = self.open_reader()
    if not self.group.waits_for(role, 'is up', times=links):
      self.faults.append(f'{role} does not come back: {self.group.says(role)}')
      return
    took = self.goes_on(self.completed(), limit)
    if took is None:
      self.faults.append(f'{role} is back, and nothing goes on within {limit} s')
    else:
      self.longest = max(self.longest, took)

  def end(self):
    """@return what the client says, or None"""
    self.group.interrupt()
    self.group.end()
    return self.group.result('cn')

  def stop(self):
    for role in self.group.running:
      self.group.kill(role)


def kills(tap, emu, what, victims, number, args, **more):
  """So many kills, of one process after the other."""
  rng, limit = random.Random(args.seed), WAIT if args.kills is None else AGAIN
  with Folder() as folder:
    chain = Chain(emu, folder, **more)
    try:
      ready = chain.goes_on(0, WAIT)
      for k in range(number if ready is not None else 0):
        chain.kill(victims[k % len(victims)], rng, limit)
      result = chain.end()
    finally:
      chain.stop()
    said = chain.group.all_said({})
  print(f'# {what}: {number} kills, seed {args.seed}; operations go on within '
        f'{chain.longest * 1e3:.0f} ms of the last link', flush=True)
  tap.ok(ready is not None and not chain.faults, f'{what}: {number} kills, and operations go on',
         '\n'.join(chain.faults[:5]) + said)
  if not tap.ok(result is not None, f'{what}: the client ends', said):
    return
  done, left = result['operations'], result['phases']['end']['under_way']
  ended = done['completed_all'] + done['failed_all']
  tap.ok(done['completed_all'] > 0 == done['mismatches'] and done['begun_all'] == ended + left and all(
           cause in CAUSES for cause, n in done['failed_by_cause'].items() if n),
         f'{what}: what begins ends, and nothing is wrong', {k: n for k, n in done.items() if k != 'kinds'})


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  need_eal(tap, emu, 'switches in several processes')
  whole(tap, emu, 'five processes', APART, True)
  whole(tap, emu, 'three processes', RACKS, False)
  far_away(tap, emu)
  refused(tap, emu)
  kills(tap, emu, 'switches', SWITCHES, args.kills or 6, args)
  # A memory that comes back is another one, and a client that does knows nothing of it: nothing is verified.
  kills(tap, emu, 'nodes', ('mn', 'cn'), (args.kills or 6) // 3, args,
        workload=[fabric(True)['workload'][0] | {'verify': False}])
  tap.done()


if __name__ == '__main__':
  main()
