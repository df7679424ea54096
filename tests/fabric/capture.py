#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clock: captures of the links. What is in them, in which order, and the same on every run."""
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'wireshark'))
import frames as f  # noqa: E402
from emu import Emu, Tap, why  # noqa: E402

SHORT = ('--clock', 'virtual', '--warmup', '0ps', '--duration', '20us')
FABRICS = ('quickstart', 'preemption-25g-fair', 'stacks/tcp', 'table1')

REFUSED = {  # arguments, and a part of the line that says why
  'no suffix': (('--capture', 'x.cap'), 'captures are files named .pcap or .pcapng'),
  'no folder': (('--capture', 'nowhere/x.pcap'), 'No such file or directory'),
  'no file': (('--capture', ',dir=up'), 'no name of a file'),
  'no such node': (('--capture', 'x.pcap,link=cn9'), "link 'cn9' is that of no node of this fabric"),
  'a link twice': (('--capture', 'x.pcap,link=cn0+cn0'), "link 'cn0' is named twice"),
  'a link by its group, too': (('--capture', 'x.pcap,link=cn+cn1'), "link 'cn1' is named twice"),
  'an empty name': (('--capture', 'x.pcap,link=cn0+'), "link '' is that of no node"),
  'no direction': (('--capture', 'x.pcap,dir=left'), "dir 'left' is neither up nor down"),
  'twice': (('--capture', 'x.pcap,dir=up,dir=down'), "'dir=down' is neither link=, nor dir=, once"),
  'one file twice': (('--capture', 'x.pcap', '--capture', 'x.pcap,dir=up'), 'is the same file as'),
  'with --seeds': (('--capture', 'x.pcap', '--seeds', '2'), '--capture goes with none of'),
  'with --check': (('--capture', 'x.pcap', '--check'), '--capture goes with none of'),
}


def refusals(tap, emu, folder):
  for name, (args, reason) in REFUSED.items():
    args = [os.path.join(folder, a) if a.startswith('x.') else a for a in args]
    process = emu.run(*SHORT, *args, emu.example('quickstart'))
    tap.ok(process.returncode == 2 and reason in process.stderr and process.stderr.count('\n') == 1,
           f'refused: {name}', why(process))


def whole(tap, name, capture, result):
  """Of a pcapng with all links: frames are right, numbered, in order, of their interface, and all there."""
  heads = [f.Head(frame) for _, _, frame in capture.frames]
  nodes = [n.split()[0] for n in capture.interfaces[::2]]
  tap.ok(capture.interfaces == [f'{n} {d}' for n in nodes for d in ('up', 'down')], f'{name}: interfaces')
  tap.ok(heads and all(h.good and h.version == 1 and h.kind == f.DATA and h.count == len(h.blocks) > 0
                       for h in heads), f'{name}: every frame is right')
  wrong = [h.link for (i, _, _), h in zip(capture.frames, heads)
           if capture.interfaces[i] != f"{nodes[h.link]} {'down' if h.down else 'up'}"]
  tap.ok(not wrong, f'{name}: in the interface of its link and direction', wrong)
  tap.ok(all(h.src == f.mac(h.link, h.down) and h.dst == f.mac(h.link, not h.down) for h in heads),
         f'{name}: addresses')
  numbers = collections.defaultdict(list)
  for (i, _, _), h in zip(capture.frames, heads):
    numbers[i].append(h.seq)
  tap.ok(all(seqs == list(range(len(seqs))) for seqs in numbers.values()), f'{name}: no number is missing')
  times = [ns for _, ns, _ in capture.frames]
  tap.ok(times == sorted(times), f'{name}: in the order of time')
  told = result['run']['captures'][0]
  tap.ok(told['frames'] == len(heads) == result['run']['spans'] and told['dropped'] == 0 and
         told['octets'] == sum(len(frame) for _, _, frame in capture.frames), f'{name}: as many as spans',
         told)
  tap.ok(capture.statistics == {i: (len(numbers[i]), 0) for i in range(len(capture.interfaces))},
         f'{name}: statistics', capture.statistics)


def parts(tap, emu, folder, capture):
  """A file of some links and one direction has those of all."""
  paths = [os.path.join(folder, n) for n in ('one.pcap', 'group.pcap', 'all.pcap')]
  process = emu.run(*SHORT, '--capture', f'{paths[0]},link=cn1+mn0,dir=down', '--capture',
                    f'{paths[1]},dir=up,link=mn', '--capture', paths[2], emu.example('quickstart'))
  wanted = ({'cn1 down', 'mn0 down'}, {'mn0 up', 'mn1 up'}, set(capture.interfaces))
  for path, names in zip(paths, wanted):
    there = [(ns, frame) for i, ns, frame in capture.frames if capture.interfaces[i] in names]
    found = list(f.read_pcap(path)) if process.returncode == 0 else []
    tap.ok(found == there != [], f'{os.path.basename(path)}: its part of all',
           f'{len(found)} frames, not {len(there)}\n{why(process)}')


def blocks_of(capture):
  """By interface: all blocks, and when those began that are first in a frame, by their numbers."""
  blocks, starts = collections.defaultdict(list), collections.defaultdict(dict)
  for i, ns, frame in capture.frames:
    starts[i][len(blocks[i])] = ns
    blocks[i] += f.Head(frame).blocks
  return blocks, starts


def block_by_block(tap, emu, folder, name, capture):
  """A frame is a block then: the same blocks at the same times."""
  path = os.path.join(folder, 'blocks.pcapng')
  process = emu.run(*SHORT, '--block-by-block', '--capture', path, emu.example(name))
  if not tap.ok(process.returncode == 0, f'{name}, block by block: sound', why(process)):
    return
  (a, at), (b, at_each) = blocks_of(capture), blocks_of(f.Pcapng(path))
  # The run ends when all is quiet: blocks of frames may be cut there.
  tap.ok(a.keys() == b.keys() and all(a[i] == b[i] for i in a), f'{name}, block by block: the same blocks')
  tap.ok(all(at_each[i].get(n) == ns for i in at for n, ns in at[i].items()),
         f'{name}, block by block: at the same times')


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    refusals(tap, emu, folder)
    for name in FABRICS:
      paths = [os.path.join(folder, n) for n in ('a.pcapng', 'b.pcapng')]
      runs = [emu.result(*SHORT, '--capture', path, emu.example(name)) for path in paths]
      process, result = runs[0]
      if not tap.ok(result is not None and process.returncode == 0, f'{name}: sound', why(process)):
        continue
      tap.ok('captured' in process.stdout, f'{name}: in the report', process.stdout[-500:])
      with open(paths[0], 'rb') as one, open(paths[1], 'rb') as other:
        tap.ok(one.read() == other.read(), f'{name}: the same octets on every run')
      capture = f.Pcapng(paths[0])
      whole(tap, name, capture, result)
      block_by_block(tap, emu, folder, name, capture)
      if name == 'quickstart':
        parts(tap, emu, folder, capture)
  tap.done()


main(*sys.argv[1:])
