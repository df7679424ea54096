#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A fabric of processes runs for a long time, by the wall clock, over memif and without root. The frames
between them are lost, doubled, overtaken and damaged; processes are killed and started again, or stopped for
a while, at random. A line a minute, and a table at the end.

  soak.py EMU ROOT [--minutes N] [--seed N]

Half of the time it has one switch, which lives. Then there are six processes, with two switches, and the
second one is killed, too.

What must hold: no read is wrong, all operations end, nobody ends whom nobody has killed, and the memory of
who lives is flat; and where the switch that schedules is killed while the other one knows all, nothing fails.
0: all of it did.
"""
import argparse
import random
import re
import resource
import statistics
import sys
import time

from emu import Emu, why
from parts import WAIT, Folder, Group, lost_buffers, pause, write
from reader import Reader

LIVE = ('sw0', 'cn0', 'mn0')  # are stopped now and then, and never killed: their memory is watched
DIE = ('cn1', 'mn1')
BACKUP = 'sw1'
NODES = ('cn0', 'cn1', 'mn0', 'mn1')
HARM = {'drop': 0.002, 'duplicate': 0.002, 'reorder': 0.002, 'corrupt': 0.002}
CAUSES = {'timeout', 'unknown', 'restarted'}
DEPTH = 8
# KiB that a process may grow from the second quarter of its time to the last, and where these are so short,
# s, that some of its memory is touched for the first time then
FLAT = 1024
SETTLING, SHORT = 4096, 150
SAMPLE = 5  # seconds
SILENCE = {1: 2, 2: 1}  # until a link is lost, with so many switches, seconds
LONGEST = {1: 1, 2: 4}  # of an operation, which has a take-over in it


def options():
  parser = argparse.ArgumentParser(description='Runs a fabric for long, and does it harm.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--minutes', type=float, default=60)
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def config(seed, switches):
  """Each link over a memif of its own, the switch being the server. A compute node that is started again
  knows nothing of what it has written, so it verifies nothing. With two switches one that verifies has its
  writes acknowledged: a plain one that died with the active switch may be lost without a word (Limits)."""
  ports, links = [], [[] for _ in range(switches)]
  for k, of in enumerate(links):
    for number, node in enumerate(NODES):
      socket, name = f'socket=memfab-soak-{seed}-{switches}-{node}-sw{k},id=0', f'{node}-sw{k}'
      server = f'sw{k}-{node}'
      ports += [{'name': name, 'device': f'net_memif{k},role=client,{socket}', 'impair': HARM},
                {'name': server, 'device': f'net_memif{number},role=server,{socket}', 'impair': HARM}]
      of.append({'node': node, 'carried': {'node': name, 'switch': server, 'hello': '50ms',
                                           'silence': f'{SILENCE[switches]}s', 'replay_max': '50ms'}})
  made = {'seed': seed, 'ports': ports, 'links': links[0],
          'nodes': [{'name': 'cn', 'count': 2, 'role': 'compute'},
                    {'name': 'mn', 'count': 2, 'role': 'memory'}],
          'host': dict.fromkeys(('read_timeout', 'write_timeout'), f'{LONGEST[switches]}s'),
          'clock': {'wall': {'warmup': '0', 'duration': '720h', 'drain': '60s'}},
          'workload': [{'nodes': node, 'verify': node in LIVE, 'depth': DEPTH,
                        'mix': {'read': 4, 'write_ack': 2, 'cas': 1, 'fadd': 1,
                                **({} if switches == 2 and node in LIVE else {'write': 2})},
                        'size': {'dist': 'uniform', 'min': 8, 'max': 4096}} for node in ('cn0', 'cn1')]}
  return {**made, 'backup': {'links': links[1]}} if switches == 2 else made


def memory(process):
  """KiB that are in use; None: it has ended. The memory that is shared with a partner is made anew with each
  connection, and gets into use bit by bit: all of it counts."""
  with open(f'/proc/{process.pid}/smaps', encoding='utf-8') as file:
    maps = re.findall(r'^[0-9a-f]+-[0-9a-f]+ (.*)\nSize: +(\d+) kB\n(?:.*\n){2}Rss: +(\d+) kB', file.read(),
                      re.M)
  return sum(int(size if 'memif_region' in what else used) for what, size, used in maps) or None


class Soak:
  switches, die = 1, DIE

  def __init__(self, emu, folder, args):
    self.rng = random.Random(args.seed)
    self.group = Group(emu, folder)
    self.path = write(folder, 'fabric.json', config(args.seed, self.switches))
    self.kills = dict.fromkeys(self.die, 0)
    self.pauses = dict.fromkeys(LIVE + self.die, 0)
    self.rss = {role: [] for role in LIVE}
    self.faults = []
    self.done = self.readers = None

  def start(self, role):
    self.group.start(role, self.path, *(['--telemetry'] if role in LIVE else []))

  def begin(self):
    for role in LIVE + self.die:
      self.start(role)
    good = all(self.group.waits_for(role, 'is up', times=self.switches) for role in NODES)
    self.readers = {role: Reader(re.search(r'dpdk-telemetry\.py -f (\S+)', self.group.said(role))[1])
                    for role in LIVE} if good else {}
    return good

  def fault(self, what):
    print(f'VIOLATION: {what}', flush=True)
    self.faults.append(what)

  def stop(self, role, seconds):
    pause(seconds, self.group.running[role])
    self.pauses[role] += 1

  def stop_one(self):
    """For less than it takes to be missed, or for longer."""
    self.stop(self.rng.choice(LIVE + self.die), self.rng.choice((0.02, 0.3, 3)) * self.rng.random())

  def kill(self, role):
    self.group.kill(role)
    time.sleep(self.rng.choice((0, 0.1, 1, 3)) * self.rng.random())
    self.start(role)
    self.kills[role] += 1

  def kill_one(self):
    self.kill(self.rng.choice(self.die))

  def harms(self):
    return (self.kill_one, self.stop_one)

  def harm(self):
    self.rng.choice(self.harms())()
    for role in self.die:
      if self.has_ended(role):
        self.start(role)

  def has_ended(self, role):
    process = self.group.running[role]
    if process.poll() is None:
      return False
    self.fault(f'{role} ended with {process.returncode}\n{self.group.said(role)[-2000:]}')
    return True

  def sample(self):
    self.operations()  # what it takes to be asked is there from the first sample on, and flat, too
    for role in LIVE:
      self.rss[role].append(memory(self.group.running[role]) or self.rss[role][-1])

  def operations(self):
    return self.readers['cn0'].get('fabric')['operations']

  def delayed(self):
    """How often a role of who lives had no turns, or no CPU for them."""
    return sum(s['stalled'] + s['asleep'] for s in (self.readers[role].get('watchdog') for role in LIVE))

  def minute(self, number):
    now = self.operations()
    before = self.done['completed_all'] if self.done else 0
    if now['completed_all'] <= before:
      self.fault('nothing was done in a minute')
    if now['mismatches'] > 0:
      self.fault(f'{now["mismatches"]} reads were wrong')
    print(f'{number:>6} min {now["completed_all"] - before:>12,} operations of cn0, {now["failed_all"]:>7,} '
          f'failed in all, {now["verified"]:>12,} verified; kills {sum(self.kills.values())}, stops '
          f'{sum(self.pauses.values())}; stalled {self.delayed()}; '
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
          number = int((time.monotonic() - begin) / 60)  # what is done to them may take longer than one
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
      if results[role] is not None and lost_buffers(results[role]):
        self.fault(f'{role} has not got back buffers of its ports: {lost_buffers(results[role])}')
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
    if grown > (FLAT if n * SAMPLE >= SHORT else SETTLING):
      self.fault(f'{role} grew by {grown} KiB')
    return grown

  def table(self, results, seed):
    print(f'\n{"":>6} {"killed":>8} {"stopped":>8} {"MiB first":>10} {"last":>8} {"grown KiB":>10} '
          f'{"operations":>14} {"failed":>9} {"verified":>13} {"wrong":>6} {"restarts":>9}')
    for role in LIVE + self.die:
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


class Twin(Soak):
  """With a second switch, which dies."""
  switches, die = 2, (*DIE, BACKUP)

  def __init__(self, emu, folder, args):
    super().__init__(emu, folder, args)
    self.clean, self.excused = 0, 0

  def harms(self):
    return (*super().harms(), self.kill_active)

  def kill_active(self):
    """The second switch schedules, since the first one is missed, and both know all. Then it dies, which
    costs cn0 no operation. Where a link to the first one is lost, too, since a process got no CPU for so
    long, or a process that lives says that it got none, that is not held against anybody (Limits)."""
    self.rests()
    self.stop('sw0', SILENCE[2] + 1)
    if not self.rests():
      return
    losses, delayed, before = self.losses('sw0'), self.delayed(), self.operations()
    self.kill(BACKUP)
    time.sleep(LONGEST[2] + 1)  # what was under way has ended
    after = self.operations()
    if self.losses('sw0') > losses or self.delayed() > delayed:
      self.excused += 1
      return
    self.clean += 1
    if after['failed_all'] > before['failed_all']:
      self.fault(f'{after["failed_all"] - before["failed_all"]} operations of cn0 failed when {BACKUP} was '
                 f'killed and sw0 knew all: {before["failed_by_cause"]}, {after["failed_by_cause"]}')

  def losses(self, switch):
    """Of links of the nodes to it."""
    return sum(self.group.said(node).count(f'{node}-{switch} is down') for node in NODES)

  def apart(self):
    """Links that are not up."""
    said = {node: self.group.says(node) for node in NODES}
    return [f'{node}-{switch}' for node, text in said.items() for switch in ('sw0', BACKUP)
            if text.rfind(f' is up ({switch}') <= text.rfind(f'{node}-{switch} is down')]

  def rests(self):
    """Until what was done to them before is over: links are back, and a switch that came back has heard for
    as long as an operation may take. @return so it is: no link was lost meanwhile, and nobody has ended"""
    time.sleep(SILENCE[2] + 1)
    end = time.monotonic() + WAIT
    while time.monotonic() < end and self.apart():
      time.sleep(0.1)
    if self.apart():
      self.fault(f'links stay down: {self.apart()}\n{self.group.all_said({})[-4000:]}')
    losses = self.losses('sw0') + self.losses(BACKUP)
    time.sleep(LONGEST[2] + 1)
    return (not self.apart() and losses == self.losses('sw0') + self.losses(BACKUP) and
            all(process.poll() is None for process in self.group.running.values()))

  def end(self):
    self.rests()  # a switch that was started just now may wait for its partners still, and has no report then
    results = super().end()
    if results['cn0'] is not None:
      epoch = results['cn0']['backup']['epoch']
      print(f'\nkilled while it scheduled: {self.clean}, and {self.excused} where somebody had no CPU; '
            f'epoch {epoch}')
      # Each began with a take-over by the second switch, and ended with one by the first.
      if epoch < 2 * (self.clean + self.excused) - 1:
        self.fault(f'{epoch} epochs')
    return results


def soak(kind, emu, args):
  """@return how much was wrong"""
  with Folder() as folder:
    run, results = kind(emu, folder, args), {}
    try:
      if run.begin():
        run.run(args.minutes / 2)
        results = run.end()
      else:
        run.fault('they do not find each other\n' + run.group.all_said({}))
      run.table(results, args.seed)
    finally:
      for role in run.group.running:
        run.group.kill(role)
  return len(run.faults)


def main():
  args = options()
  resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
  emu = Emu(args.emu, args.root)
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if process.returncode != 0:
    sys.exit('soak: EAL does not start: ' + why(process))
  faults = 0
  for kind, head in ((Soak, 'one switch'), (Twin, 'two switches')):
    print(f'{head}, {args.minutes / 2:g} minutes', flush=True)
    faults += soak(kind, emu, args)
  sys.exit(1 if faults else 0)


main()
