#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that sleeps between operations, over memif and veth: its links live, it takes little of a CPU,
what it reads is right, and what others ask of its node meanwhile is answered."""
import os
import re
import subprocess
import sys

ROOT, EMU, PROGRAM = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap, need_eal, why
from parts import Folder, Group, Spaces, memif, write

TAP = Tap()
WAIT = 300  # seconds: the machine may be busy
SHARE = 25  # per cent of a CPU: idle it is 2 at most, polling 100; a machine that has no CPU makes it more
# A link that says nothing for as long as a sleep lasts is lost.
LLR = {'hello': '20ms', 'silence': '800ms', 'replay_max': '20ms'}


def config(ports, links, **more):
  """The program is mn, which others read and write; mx is what it reads."""
  return {'ports': [p for p in ports if p['name'] in ('mn', 'sw-mn')], 'memory': {'size': '1MiB'},
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'both'},
                    {'name': 'mx', 'role': 'memory'}],
          'links': [{'node': 'mn', 'carried': {**links['mn'], **LLR}}, {'node': 'cn'}, {'node': 'mx'}],
          **more}


WORKLOAD = {'workload': [{'nodes': ['cn'], 'targets': ['mn'], 'mix': {'read': 2, 'write_ack': 1, 'fadd': 1},
                          'depth': 1, 'size': 64}],
            'clock': {'wall': {'warmup': '0', 'duration': '2s', 'drain': '60s'}}}


def one(folder, what, path, before, asked):
  """@param asked  the others have a workload, which ends"""
  group = Group(Emu(EMU, ROOT), folder, {'sw0,cn,mx': before.get('sw0', [])})
  try:
    group.start('sw0,cn,mx', path, name='others')
    out = subprocess.run([*before.get('mn', []), PROGRAM, '--number', '3', '--only', '--node', 'mn',
                          '--target', 'mx', path], capture_output=True, text=True, timeout=WAIT, check=False)
    print(f'# {what}: {out.stdout.strip()}'.replace('\n', '\n# '))
    share = re.search(r'with (\S+) % of a CPU; lost (\d+) times', out.stdout)
    TAP.ok(out.returncode == 0 and share, f'{what}: what is read is right', why(out))
    TAP.ok(share and share.group(2) == '0', f'{what}: its link lives while it sleeps', why(out))
    if not asked:
      TAP.ok(share and float(share.group(1)) < SHARE, f'{what}: it sleeps', out.stdout)
    status = group.end()
    result = group.result('others')
    TAP.ok(all(code == 0 for code in status.values()), f'{what}: the others end with it',
           group.all_said(status))
    if asked:
      reads = (result or {}).get('operations', {}).get('kinds', {}).get('read', {})
      TAP.ok(reads.get('completed', 0) > 0, f'{what}: it answers while it sleeps', reads)
      mean = reads.get('latency', {}).get('mean_ns')
      print(f"# {what}: {reads.get('completed')} reads of it, {mean} ns each")
  finally:
    for role in group.running:
      group.kill(role)


def main():
  need_eal(TAP, Emu(EMU, ROOT), 'a program that sleeps')
  with Folder() as folder:
    ports, links = memif('sleep')
    path = write(folder, 'memif.json', config(ports, links))
    one(folder, 'memif', path, {}, False)
    path = write(folder, 'asked.json', config(ports, links, **WORKLOAD))
    one(folder, 'memif, asked', path, {}, True)
    with Spaces() as spaces:
      if spaces.reason:
        TAP.skip('veth', spaces.reason)
      else:
        path = write(folder, 'veth.json', config(spaces.ports(), links))
        one(folder, 'veth', path, spaces.before(), False)
  TAP.done()


main()
