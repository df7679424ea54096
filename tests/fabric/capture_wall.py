#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wall clock: what is sent on the links goes into a capture, or is counted as dropped. Skipped where EAL
cannot start."""
import collections
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'wireshark'))
import frames as f  # noqa: E402
from emu import Emu, Tap, why  # noqa: E402

LOOKED_AT = 2000  # frames whose CRC and blocks are looked at


def numbers(capture):
  """By interface the sequence numbers, in the order of the file."""
  seqs = collections.defaultdict(list)
  for i, _, frame in capture.frames:
    seqs[i].append(int.from_bytes(frame[24:28], 'little'))
  return seqs


def look_at(tap, capture, told, began):
  seqs = numbers(capture)
  tap.ok(len(seqs) == len(capture.interfaces), 'every direction has sent something', list(seqs))
  tap.ok(all(s == sorted(set(s)) for s in seqs.values()), 'numbers go up')
  dropped = {i: d for i, (_, d) in capture.statistics.items()}
  tap.ok(all(s[-1] + 1 - len(s) <= dropped[i] for i, s in seqs.items()), 'what is missing is counted',
         dropped)
  tap.ok(told['frames'] == len(capture.frames) and told['dropped'] == sum(dropped.values()),
         'as the result says', told)
  heads = [f.Head(frame) for _, _, frame in capture.frames[:LOOKED_AT]]
  tap.ok(all(h.good and h.count == len(h.blocks) > 0 for h in heads), 'frames are right')
  times = [ns for _, ns, _ in capture.frames]
  tap.ok(began <= times[0] <= times[-1] <= time.time_ns(), 'wall time', (began, times[0], times[-1]))


def capture_of(tap, emu, folder, name, eal):
  path, out, began = os.path.join(folder, 'a.pcapng'), os.path.join(folder, 'a.json'), time.time_ns()
  process = emu.run(*eal, '--json', out, '--warmup', '0s', '--duration', '300ms', '--capture', path,
                    emu.example('quickstart'))
  if not tap.ok(process.returncode == 0, f'{name}: sound', why(process)):
    return
  with open(out, encoding='utf-8') as file:
    look_at(tap, f.Pcapng(path), json.load(file)['run']['captures'][0], began)


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  one = ('-l', '0', '--no-huge', '-m', '512', '--no-shconf', '--no-pci', '--file-prefix',
         f'capture{os.getpid()}', '--')
  with tempfile.TemporaryDirectory() as folder:
    process = emu.run('--duration', '10ms', '--warmup', '0', emu.example('quickstart'))
    if 'EAL' in process.stderr:
      tap.skip('captures in real time', process.stderr.strip().splitlines()[-1])
    else:
      capture_of(tap, emu, folder, 'one lcore', one)
      capture_of(tap, emu, folder, 'an lcore for each CPU', ())
  tap.done()


main(*sys.argv[1:])
