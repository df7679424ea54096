#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A fabric of five processes runs for a long time, by the wall clock, over memif and without root. The
frames between them are lost, doubled, overtaken and damaged; processes are killed and started again, or
stopped for a while, at random. A line a minute, and a table at the end.

  soak.py EMU ROOT [--minutes N] [--seed N]

What must hold: no read is wrong, all operations end, nobody ends whom nobody has killed, and the memory of
who lives is flat. 0: all of it did.
"""
import argparse
import random
import re
import resource
import signal
import statistics
import sys
import time

from emu import Emu, why
from parts import Folder, Group, write
from reader import Reader

LIVE = ('sw0', 'cn0', 'mn0')  # are stopped now and then, and never killed: their memory is watched
DIE = ('cn1', 'mn1')
NODES = ('cn0', 'cn1', 'mn0', 'mn1')
HARM = {'drop': 0.002, 'duplicate': 0.002, 'reorder': 0.002, 'corrupt': 0.002}
CAUSES = {'timeout', 'unknown', 'restarted'}
DEPTH = 8
FLAT = 1024  # KiB that a process may grow from the second quarter of its time to the last
SAMPLE = 5  # seconds


def options():
  parser = argparse.ArgumentParser(description='Runs a fabric for long, and does it harm.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--minutes', type=float, default=60)
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def config(seed):
  """Each node's link over a memif of its own, the switch being the server. A compute node that is started
  again knows nothing of what it has written, so it verifies nothing."""
  ports, links = [], []
  for number, node in enumerate(NODES):
    socket = f'socket=memfab-soak-{seed}-{node},id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{socket}', 'impair': HARM},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}', 'impair': HARM}]
    links.append({'node': node, 'carried': {'node': node, 'switch': f'sw-{node}', 'hello': '50ms',
                                            'silence': '2s', 'replay_max': '50ms'}})
  return {'seed': seed, 'ports': ports, 'links': links,
          'nodes': [{'name': 'cn', 'count': 2, 'role': 'compute'},
                    {'name': 'mn', 'count': 2, 'role': 'memory'}],
          'host': {'read_timeout': '1s', 'write_timeout': '1s'},
          'clock': {'wall': {'warmup': '0', 'duration': '720h', 'drain': '60s'}},
          'workload': [{'nodes': node, 'verify': node in LIVE, 'depth': DEPTH,
                        'mix': {'read': 4, 'write': 2, 'write_ack': 2, 'cas': 1, 'fadd': 1},
                        'size': {'dist': 'uniform', 'min': 8, 'max': 4096}} for node in ('cn0', 'cn1')]}


def memory(process):
  """KiB that are in use; None: it has ended."""
  with open(f'/proc/{process.pid}/status', encoding='utf-8') as file:
    rss = re.search(r'VmRSS:\s+(\d+) kB', file.read())
  return int(rss[1]) if rss else None


class Soak:
  def __init__(self, emu, folder, args):
    self.rng = random.Random(args.seed)
    self.group = Group(emu, folder)
    self.path = write(folder, 'fabric.json', config(args.seed))
    self.kills = dict.fromkeys(DIE, 0)
    self.pauses = dict.fromkeys(LIVE + DIE, 0)
    self.rss = {role: [] for role in LIVE}
    self.faults = []
    self.done = self.readers = None

  def start(self, role):
    self.group.start(role, self.path, *(['--telemetry'] if role in LIVE else []))

  def begin(self):
    for role in LIVE + DIE:
      self.start(role)
    good = all(self.group.waits_for(role, 'is up') for role in NODES)
    self.readers = {role: Reader(re.search(r'dpdk-telemetry\.py -f (\S+)', self.group.said(role))[1])
                    for role in LIVE} if good else {}
    return good

  def fault(self, what):
    print(f'VIOLATION: {what}', flush=True)
    self.faults.append(what)

  def stop_one(self):
    """For less than it takes to be missed, or for longer."""
    role = self.rng.choice(LIVE + DIE)
    process = self.group.running[role]
    process.send_signal(signal.SIGSTOP)
    time.sleep(self.rng.choice((0.02, 0.3, 3)) * self.rng.random())
    process.send_signal(signal.SIGCONT)
    self.pauses[role] += 1

  def kill_one(self):
    role = self.rng.choice(DIE)
    self.group.kill(role)
    time.sleep(self.rng.choice((0, 0.1, 1, 3)) * self.rng.random())
    self.start(role)
    self.kills[role] += 1

  def harm(self):
    (self.kill_one if self.rng.random() < 0.5 else self.stop_one)()
    for role in DIE:
      if self.has_ended(role):
        self.start(role)

  def has_ended(self, role):
    process = self.group.running[role]
    if process.poll() is None:
      return False
    self.fault(f'{role} ended with {process.returncode}\n{self.group.said(role)[-2000:]}')
    return True

  def sample(self):
    for role in LIVE:
      self.rss[role].append(memory(self.group.running[role]) or self.rss[role][-1])

  def operations(self):
    return self.readers['cn0'].get('fabric')['operations']

  def minute(self, number):
    now = self.operations()
    before = self.done['completed_all'] if self.done else 0
    if now['completed_all'] <= before:
      self.fault('nothing was done in a minute')
    if now['mismatches'] > 0:
      self.fault(f'{now["mismatches"]} reads were wrong')
    stalls = {role: self.readers[role].get('watchdog') for role in LIVE}
    print(f'{number:>6} min {now["completed_all"] - before:>12,} operations of cn0, {now["failed_all"]:>7,} '
          f'failed in all, {now["verified"]:>12,} verified; kills {sum(self.kills.values())}, stops '
          f'{sum(self.pauses.values())}; stalled {sum(s["stalled"] + s["asleep"] for s in stalls.values())}; '
          'MiB ' + ', '.join(f'{role} {self.rss[role][-1] / 1024:.1f}' for role in LIVE), flush=True)
    self.done = now

  def run(self, minutes):
    begin = time.monotonic()
    number, sampled = 0, 0
    while time.monotonic() < begin + minutes * 60 and not any(map(self.has_ended, LIVE)):
      self.harm()
      end = time.monotonic() + self.rng.uniform(0.2, 4)
      while time.monotonic() < end and all(self.group.running[role].poll() is None for role in LIVE):
        time.sleep(0.1)
        if time.monotonic() >= sampled + SAMPLE:
          sampled = time.monotonic()
          self.sample()
        if time.monotonic() >= begin + (number + 1) * 60:
          number += 1
          self.minute(number)

  def end(self):
    """All come to rest, and then to their end; what they report."""
    time.sleep(5)
    for reader in self.readers.values():
      reader.close()
    self.group.interrupt()
    status = self.group.end(180)
    results = {role: self.group.result(role) for role in status}
    for role in status:
      if results[role] is None:
        self.fault(f'{role} gives no report ({status[role]})\n{self.group.said(role)[-2000:]}')
    for role in ('cn0', 'cn1'):
      if results[role] is not None:
        self.judge(role, results[role])
    return results

  def judge(self, role, result):
    done, left = result['operations'], result['phases']['end']['under_way']
    if done['mismatches'] > 0:
      self.fault(f'{role}: {done["mismatches"]} reads were wrong')
    if done['begun_all'] != done['completed_all'] + done['failed_all'] + left or left > DEPTH:
      self.fault(f'{role}: begun, and neither over nor under way: {done}')
    if any(count for cause, count in done['failed_by_cause'].items() if cause not in CAUSES):
      self.fault(f'{role}: failed for other reasons: {done["failed_by_cause"]}')

  def growth(self, role):
    """KiB, from the second quarter of the time to the last."""
    rss, n = self.rss[role], len(self.rss[role]) // 4
    if n == 0:
      return 0
    grown = statistics.median(rss[-n:]) - statistics.median(rss[n:2 * n])
    if grown > FLAT:
      self.fault(f'{role} grew by {grown} KiB')
    return grown

  def table(self, results, seed):
    print(f'\n{"":>6} {"killed":>8} {"stopped":>8} {"MiB first":>10} {"last":>8} {"grown KiB":>10} '
          f'{"operations":>14} {"failed":>9} {"verified":>13} {"wrong":>6} {"restarts":>9}')
    for role in LIVE + DIE:
      rss = self.rss.get(role)
      mem = f'{rss[0] / 1024:>10.1f} {rss[-1] / 1024:>8.1f} {self.growth(role):>10.0f}' if rss else ' ' * 30
      done = (results.get(role) or {}).get('operations')
      ops = (f'{done["completed_all"]:>14,} {done["failed_all"]:>9,} {done["verified"]:>13,} '
             f'{done["mismatches"]:>6} {done["restarts_seen"]:>9}' if done else '')
      print(f'{role:>6} {self.kills.get(role, 0):>8} {self.pauses[role]:>8} {mem} {ops}')
    replayed = sum(e['counters']['tx_replayed_frames'] for r in results.values() if r for e in r['carried'])
    for role, result in results.items():
      if result and self.faults:
        drops = {k: v for where in result['drops'].values() for k, v in where.items() if v}
        print(f'{role:>6} drops: {drops}')
    print(f'frames sent again by who lived at the end: {replayed:,}; violations: {len(self.faults)}; '
          f'seed {seed}')


def main():
  args = options()
  resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
  emu = Emu(args.emu, args.root)
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if process.returncode != 0:
    sys.exit('soak: EAL does not start: ' + why(process))
  with Folder() as folder:
    soak, results = Soak(emu, folder, args), {}
    try:
      if soak.begin():
        soak.run(args.minutes)
        results = soak.end()
      else:
        soak.fault('they do not find each other\n' + soak.group.all_said({}))
      soak.table(results, args.seed)
    finally:
      for role in soak.group.running:
        soak.group.kill(role)
  sys.exit(1 if soak.faults else 0)


main()
