# SPDX-License-Identifier: BSD-3-Clause
"""Links that keep their rate and length in real time ("shape"): fabrics of them, and what captures say."""
import bisect
import collections
import json
import os
import subprocess
import sys
import time

import parts
from emu import threads, why

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'wireshark'))
import frames as f  # noqa: E402

LATE = 150e-6  # s: a line catches up on so much at most (docs/fabric-file.md, "shape")
SLOWER = 1 + 1 / 256  # and its blocks are longer by so much
BITS = {'M': 1e6, 'G': 1e9}


def block_time(rate):
  """Seconds a block: 64 bits of the nominal rate."""
  return 64 / (float(rate[:-1]) * BITS[rate[-1]])


def shaped(rate, propagation, duration, warmup='100ms', **more):
  """A compute node and a memory node whose links are all alike."""
  return {'link': {'rate': rate, 'propagation': propagation, 'shape': True}, 'watchdog': '0',
          'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}],
          # Timers end only what is lost, however long a process waits for a CPU.
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          **({} if 'stack' in more else {'switch': {'grant_timeout': '60s', 'hold_timeout': '60s'}}),
          'clock': {'wall': {'warmup': warmup, 'duration': duration, 'drain': '60s'}},
          'workload': [{'mix': {'read': 1}, 'size': 4096, 'depth': 8}], **more}


def over_memif(config, name):
  """The same with the nodes' links over memif."""
  ports, carried = parts.memif(name)
  return {**config, 'ports': ports,
          'links': [{'node': node, 'carried': carried[node]} for node in parts.NODES]}


class Sent:
  """What was sent on one direction of a link: when (s), and how many blocks until then and with it."""

  def __init__(self):
    self.at, self.total, self.longest, self.dropped = [], [0], 0, 0

  def add(self, at, blocks):
    self.at.append(at)
    self.total.append(self.total[-1] + blocks)
    self.longest = max(self.longest, blocks)

  def most(self, window):
    """Blocks in any window of so many seconds, its first frame included."""
    return max(self.total[bisect.bisect_left(self.at, at + window)] - self.total[i]
               for i, at in enumerate(self.at))


def sent(captures):
  """By interface name. Frames that go a second time over a port have passed the line once.

  @param captures  paths, and which interfaces the process sends at
  """
  found, seen = collections.defaultdict(Sent), set()
  for path, sends in captures:
    capture = f.Pcapng(path)
    for interface, ns, frame in sorted(capture.frames, key=lambda one: (one[0], one[1])):
      name, seq = capture.interfaces[interface], frame[20:28]
      found[name].dropped = capture.statistics[interface][1]
      if sends(name) and frame[15] == f.DATA and (name, seq) not in seen:
        seen.add((name, seq))
        found[name].add(ns * 1e-9, int.from_bytes(frame[36:38], 'little'))
  return found


def run_here(emu, folder, config, *eal, capture=True):
  """In one process. @return result, captures; (None, why)"""
  path, out = parts.write(folder, 'fabric.json', config), os.path.join(folder, 'here')
  captures = ('--capture', f'{out}.pcapng') if capture else ()
  process = emu.run(*eal, '--clock', 'wall', '--json', f'{out}.json', *captures, path)
  if process.returncode not in (0, 1):
    return None, why(process)
  with open(f'{out}.json', encoding='utf-8') as file:
    return json.load(file)['result'], [(f'{out}.pcapng', lambda name: True)] if capture else []


def one_lcore(lcore, name):
  """Options of EAL for a process that polls on one CPU."""
  return ('-l', str(lcore), '--no-huge', '-m', '512', '--no-shconf', '--no-pci', '--file-prefix',
          f'shape{os.getpid()}{name}', '--')


def until_end(processes):
  """@return what each has said; of one that does not end, where its threads are, and it is killed"""
  said, end = {}, time.monotonic() + parts.WAIT
  for name, process in processes.items():
    try:
      said[name] = process.communicate(timeout=max(1, end - time.monotonic()))[1]
    except subprocess.TimeoutExpired:
      said[name] = f'does not end: {threads(process)}: '
      process.kill()
      said[name] += process.communicate()[1]
  return said


def run_apart(emu, folder, config, capture=True, of='cn', eal=None):
  """cn in a process of its own, the switch and mn in another one.

  @param of  whose result: cn or sw
  @param eal  options of EAL by process
  """
  path, processes, captures = parts.write(folder, 'fabric.json', over_memif(config, 'shape')), {}, []
  for name, roles in (('sw', 'sw0,mn'), ('cn', 'cn')):
    out, own = os.path.join(folder, name), name == 'cn'
    captures.append((f'{out}.pcapng', lambda link, own=own: (link == 'cn up') == own))
    processes[name] = subprocess.Popen(
      [emu.program, *(eal or {}).get(name, ()), '--run', roles, '--json', f'{out}.json',
       *(('--capture', f'{out}.pcapng') if capture else ()), path], stdout=subprocess.DEVNULL,
      stderr=subprocess.PIPE, text=True)
  said = until_end(processes)
  if any(process.returncode not in (0, 1) for process in processes.values()):
    return None, said
  with open(os.path.join(folder, f'{of}.json'), encoding='utf-8') as file:
    return json.load(file)['result'], captures if capture else []
