#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two racks and two spines in four processes over memif: --run r0 plays a rack. Reads, writes and atomics of
each rack go to the other one, and are verified. Each spine is killed in turn, without a word: operations go
on over the other one, and again over both when it is back. They complete or fail, none is wrong. Skipped
where EAL cannot start.

  spines.py EMU ROOT [--kills N] [--seed N]

Without --kills a few, and however long it takes on a busy machine. With it operations have to go on within a
second, and it prints the longest time, and how many operations failed.
"""
import os
import random
import time

from chains import AGAIN, CAUSES, TIMER, options
from emu import Emu, Tap, need_eal
from parts import WAIT, Folder, Group, write
from reader import Reader, prefix_in

SPINES, RACKS = ('spine0', 'spine1'), ('r0', 'r1')
PARTS = (*SPINES, *RACKS)


def memifs():
  """A port at each end of each link; that of the spine is the server."""
  ports, links = [], []
  for r, rack in enumerate(RACKS):
    for s, spine in enumerate(SPINES):
      socket = f'socket=memfab-spines-{os.getpid()}-{rack}-{spine},id=0'
      ports += [{'name': f'{rack}-{spine}', 'device': f'net_memif{s},role=client,{socket}'},
                {'name': f'{spine}-{rack}', 'device': f'net_memif{r},role=server,{socket}'}]
      links.append({'between': [f'{rack}.tor', spine],
                    'carried': {'between': [f'{rack}-{spine}', f'{spine}-{rack}'], 'hello': '20ms',
                                'silence': '1s', 'replay_max': '20ms'}})
  return ports, links


def fabric():
  ports, links = memifs()
  load = {'mix': {'read': 2, 'write': 1, 'cas': 1, 'fadd': 1}, 'size': 500, 'span': '64KiB', 'depth': 2}
  return {'stack': 'rocev2', 'ports': ports, 'links': links, 'watchdog': '0', 'nodes': [],
          'switches': [{'name': 'spine', 'count': 2}],
          'racks': [{'name': 'r', 'count': 2, 'of': {
            'switches': [{'name': 'tor'}],
            'nodes': [{'name': 'cn', 'count': 4, 'role': 'compute', 'ends': [{'to': 'tor'}]},
                      {'name': 'mn', 'role': 'memory', 'ends': [{'to': 'tor'}]}]}}],
          'host': {'read_timeout': f'{TIMER}ms', 'write_timeout': f'{TIMER}ms'},
          'clock': {'wall': {'warmup': '0', 'duration': '1000s', 'drain': '60s'}},
          'workload': [{'nodes': 'r0', 'targets': 'r1.mn', **load},
                       {'nodes': 'r1', 'targets': 'r0.mn', **load}]}


class Spines:
  """The four processes, and what the clients of each rack count."""

  def __init__(self, emu, folder):
    self.group, self.path = Group(emu, folder), write(folder, 'fabric.json', fabric())
    self.faults, self.longest = [], 0
    self.failed = {'away': 0, 'back': 0}  # operations, by what the spine was then
    for part in PARTS:
      self.start(part)
    self.readers = {rack: self.open_reader(rack) for rack in RACKS}

  def start(self, part):
    self.group.start(part, self.path, *(('--telemetry',) if part in RACKS else ()))

  def open_reader(self, rack):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
      found = prefix_in(self.group.says(rack))
      if found:
        return Reader(found)
      time.sleep(0.02)
    raise RuntimeError(self.group.all_said({}))

  def counts(self):
    """Operations of each rack that completed, and that failed."""
    all_of = [(self.readers[rack].get('fabric') or {}).get('operations', {}) for rack in RACKS]
    return [[of.get(key, 0) for of in all_of] for key in ('completed_all', 'failed_all')]

  def goes_on(self, what, limit):
    """Until each rack completes more than before."""
    before, begin = self.counts()[0], time.monotonic()
    while time.monotonic() < begin + limit:
      if all(now > then for now, then in zip(self.counts()[0], before)):
        self.longest = max(self.longest, time.monotonic() - begin)
        return True
      time.sleep(0.01)
    self.faults.append(f'{what}: nothing goes on within {limit} s')
    return False

  def kill(self, spine, rng, limit):
    """While it is away all flows are on the other spine."""
    before = sum(self.counts()[1])
    self.group.kill(spine)
    # What was under way at the spine that is gone is sent again, or fails by its timer, which is later.
    time.sleep(2 * TIMER / 1000)
    self.goes_on(f'{spine} is away', limit)
    time.sleep(0.2 * rng.random())
    away = sum(self.counts()[1])
    self.start(spine)
    if not self.group.waits_for(spine, 'is up', times=len(RACKS)):
      self.faults.append(f'{spine} does not come back: {self.group.says(spine)}')
      return
    time.sleep(2 * TIMER / 1000)
    self.goes_on(f'{spine} is back', limit)
    self.failed['away'] += away - before
    self.failed['back'] += sum(self.counts()[1]) - away
    for part, process in self.group.running.items():
      if process.poll() is not None:
        self.faults.append(f'{part} ended with {process.returncode}: {self.group.said(part)[-1000:]}')

  def stop(self):
    for part in self.group.running:
      self.group.kill(part)


def thrown_away(result):
  """Blocks that were given to a link that was not up yet: a spine that begins when its first link is up has
  more than a thousand, one that waits for both has none, unless the machine lets it wait for too long."""
  return sum(end['counters'].get('tx_not_open_blocks', 0) for end in result['carried'])


def kills(tap, emu, number, args):
  rng, limit = random.Random(args.seed), WAIT if args.kills is None else AGAIN
  with Folder() as folder:
    spines = Spines(emu, folder)
    try:
      ready = spines.goes_on('all are there', WAIT)
      for k in range(number if ready else 0):
        spines.kill(SPINES[k % 2], rng, limit)
      spines.group.interrupt()
      spines.group.end()
      results = [spines.group.result(rack) for rack in RACKS]
      through = [spines.group.result(spine) for spine in SPINES]
    finally:
      spines.stop()
    said = spines.group.all_said({})
  failed = ', '.join(f'{n} with the spine {what}' for what, n in spines.failed.items())
  print(f'# {number} kills, seed {args.seed}; operations go on within {spines.longest * 1e3:.0f} ms; '
        f'failed: {failed}', flush=True)
  tap.ok(ready and not spines.faults, f'{number} kills of spines: flows move, and operations go on',
         '\n'.join(spines.faults[:5]) + said)
  for rack, result in zip(RACKS, results):
    if not tap.ok(result is not None, f'{rack} ends', said):
      continue
    done, left = result['operations'], result['phases']['end']['under_way']
    print(f'# {rack}: {done["completed_all"]} completed, {done["failed_all"]} failed', flush=True)
    tap.ok(done['completed_all'] > 0 == done['mismatches'] and done['verified'] > 0 and
           done['begun_all'] == done['completed_all'] + done['failed_all'] + left and all(
             cause in CAUSES for cause, n in done['failed_by_cause'].items() if n),
           f'{rack}: what begins ends, and nothing is wrong', {k: n for k, n in done.items() if k != 'kinds'})
    tap.ok(set(result['roles']) == {f'{rack}.{name}' for name in ('tor', 'cn0', 'cn1', 'cn2', 'cn3', 'mn')},
           f'--run {rack} plays the whole rack', result['roles'])
  if tap.ok(all(result is not None for result in through), 'spines end', said):
    print(f'# since they came back spines threw away {[thrown_away(result) for result in through]} blocks',
          flush=True)


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  need_eal(tap, emu, 'racks and spines in several processes')
  kills(tap, emu, args.kills or 4, args)
  tap.done()


if __name__ == '__main__':
  main()
