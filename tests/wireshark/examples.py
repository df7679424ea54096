#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tshark finds nothing wrong with captures of all examples; shortened, and of large fabrics one link."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
from emu import Emu, Tap, why  # noqa: E402
from tshark import Tshark, why_not  # noqa: E402

# Warm-up, duration; by the beginning of the name.
TIMES = {'rack144': ('1us', '2us'), 'table1': ('0ps', '10us'), 'trace': ('0ps', '10us')}
OTHERS = ('1us', '2us')
FRAMES = 500  # most that are looked at
LINK = {'rack144': ',link=n0'}

# What is to be in no capture; what belongs to the frames within is none of ours.
FAULTS = ['_ws.malformed', '_ws.lua.error'] + [
  f'memfab.expert.{name}' for name in ('crc', 'check', 'short', 'unknown', 'format', 'again', 'gap', 'cut')]
HAVE = ['memfab.kind', 'memfab.frame', 'memfab.flit.kind']


def by_name(table, name, default):
  return next((v for k, v in table.items() if name.startswith(k)), default)


def look_at(tap, tshark, name, path):
  rows = tshark.fields(path, ['memfab.crc.status', *HAVE, *FAULTS], more=('-c', str(FRAMES)))
  faults = [(i + 1, row) for i, row in enumerate(rows) if any(row[1 + len(HAVE):])]
  tap.ok(not faults and tshark.errors == '', f'{name}: nothing wrong', f'{faults[:5]}\n{tshark.errors}')
  tap.ok(rows and all(row[0] == ['1'] for row in rows), f'{name}: {len(rows)} frames, all dissected')
  tap.ok(any(any(row[1:1 + len(HAVE)]) for row in rows), f'{name}: messages or frames', rows[:5])


def main(program, root):
  emu, tap, reason = Emu(program, root), Tap(), why_not()
  if reason:
    tap.skip('examples', reason)
    tap.done()
  stacks = sorted(os.listdir(os.path.join(root, 'examples/stacks')))
  names = emu.examples() + ['stacks/' + file[:-5] for file in stacks]
  with Tshark(root) as tshark:
    for name in names:
      path = tshark.path(os.path.basename(name) + '.pcapng')
      warmup, duration = by_name(TIMES, name, OTHERS)
      process = emu.run('--clock', 'virtual', '--warmup', warmup, '--duration', duration, '--capture',
                        path + by_name(LINK, name, ''), emu.example(name))
      # So short a run may have no samples of some kind, which is not sound.
      if tap.ok(process.returncode in (0, 1) and os.path.isfile(path), f'{name}: captured', why(process)):
        look_at(tap, tshark, name, path)
      os.unlink(path)
  tap.done()


main(*sys.argv[1:])
