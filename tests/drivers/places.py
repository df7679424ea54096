#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Drivers below a folder that anybody may write to, as /tmp is, where EAL loads none: who is given one says
so before anything starts, and these tests use a copy."""
import os
import shutil
import subprocess
import sys
import tempfile

LEAST, LEFT_OUT, EMU, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap
from stock import eal, loadable, open_to_all, run_stock, why_not

TAP = Tap()


def run(*command):
  return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                        check=False)


def said(what, process, status, open_folder):
  """One line, of the folder that is open."""
  text = process.stdout + process.stderr
  TAP.ok(process.returncode == status and text.count('\n') == 1
         and f'below {open_folder}, which anybody' in text,
         what, f'exit {process.returncode}\n{text[-2000:]}')


def main():
  if LEFT_OUT:
    return TAP.skip('drivers below an open folder', LEFT_OUT)
  with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777)
    driver = shutil.copy(LEAST, folder)
    said('testpmd.sh', run('sh', os.path.join(ROOT, 'examples', 'testpmd', 'testpmd.sh'), driver), 2, folder)
    fabric = os.path.join(ROOT, 'examples', 'quickstart.json')
    for option in (['-d', driver], [f'-d{driver}'], ['-d', folder]):
      said(f'memfab-emu {option[0][:2]}, {len(option)}', run(
        EMU, '--no-huge', '-m', '64', '--no-shconf', *option, '--', '--clock', 'wall', fabric), 2, folder)
    copy = loadable(driver)
    if open_to_all(copy):
      return TAP.skip('a copy', why_not('cat', copy, ''))
    TAP.ok(copy != driver and os.path.isfile(copy), 'a copy is where EAL takes it', copy)
    reason = why_not('dpdk-testpmd', copy, '')
    if reason:
      return TAP.skip('a copy is loaded', reason)
    args = eal(f'places-{os.getpid()}', copy, ['net_least0'], memory=256)
    process = run_stock(['dpdk-testpmd', *args, '--no-telemetry', '--', '-i', '--total-num-mbufs=2048'],
                        'quit\n')
    TAP.ok(process.returncode == 0, 'a copy is loaded', process.stdout[-1000:] + process.stderr[-1000:])
  return None


main()
TAP.done()
