#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A driver that was built here, loaded by the stock dpdk-testpmd: its port is there and takes frames."""
import os
import re
import shutil
import stat
import subprocess
import sys

LEAST, LEFT_OUT, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap

TAP = Tap()
EAL = ['--no-huge', '-m', '256', '--no-shconf', '--no-pci', '--no-telemetry', '--file-prefix',
       f'least-{os.getpid()}', '--lcores', '(0-1)@{cpu}']
SCRIPT = 'show port info 0\nset fwd txonly\nstart\nstop\nshow port stats 0\nshow port info all\nquit\n'


def open_to_all(path):
  """The folder on the way to a file that anybody may write to: EAL loads nothing from below it"""
  while path != '/':
    path = os.path.dirname(path)
    if os.stat(path).st_mode & stat.S_IWOTH:
      return path
  return None


def testpmd(*vdevs):
  cpu = min(os.sched_getaffinity(0))
  args = [a.format(cpu=cpu) for a in EAL] + ['-d', LEAST]
  for vdev in vdevs:
    args += ['--vdev', vdev]
  return subprocess.run(['dpdk-testpmd', *args, '--', '-i', '--total-num-mbufs=2048'], input=SCRIPT,
                        capture_output=True, text=True, timeout=50, check=False)


def main():
  name = 'stock dpdk-testpmd loads a driver'
  if LEFT_OUT:
    return TAP.skip(name, LEFT_OUT)
  if shutil.which('dpdk-testpmd') is None:
    return TAP.skip(name, 'dpdk-testpmd is not installed')
  folder = open_to_all(os.path.realpath(LEAST))
  if folder:
    return TAP.skip(name, f'EAL loads no drivers from below {folder}, which anybody may write to')
  run = testpmd('net_least0', 'dma_least0')
  text = run.stdout + run.stderr
  TAP.ok(run.returncode == 0 and 'Driver name: net_least' in text, name,
         f'exit {run.returncode}\n{text[-2000:]}')
  sent = re.findall(r'TX-packets: *(\d+)', run.stdout)
  TAP.ok(sent and int(sent[0]) > 0, 'its port takes frames', text[-2000:])
  run = testpmd('net_most0')
  return TAP.ok(run.returncode != 0, 'a driver that is not there is refused', run.stdout[-2000:])


main()
TAP.done()
