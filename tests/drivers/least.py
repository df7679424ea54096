#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A driver that was built here, loaded by the stock dpdk-testpmd: its port is there and takes frames."""
import os
import re
import sys

LEAST, LEFT_OUT, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap
from stock import eal, loadable, run_stock, why_not

TAP = Tap()
LEAST = loadable(LEAST)
SCRIPT = 'show port info 0\nset fwd txonly\nstart\nstop\nshow port stats 0\nshow port info all\nquit\n'


def testpmd(*vdevs):
  args = eal(f'least-{os.getpid()}', LEAST, vdevs, memory=256) + ['--no-telemetry']
  return run_stock(['dpdk-testpmd', *args, '--', '-i', '--total-num-mbufs=2048'], SCRIPT)


def main():
  name = 'stock dpdk-testpmd loads a driver'
  reason = why_not('dpdk-testpmd', LEAST, LEFT_OUT)
  if reason:
    return TAP.skip(name, reason)
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
