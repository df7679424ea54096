#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each planted bug is found by a campaign of so many seeds, in which nothing is wrong without it, and within
a minute: by the clock, or, where other work holds it up, of CPU time. What it says that repeats it does.
With sanitizers nothing is planted: campaigns in which nothing is wrong are what they may find more in."""
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = sys.argv[3]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap

SECONDS = 60
# Cases are made smaller as far as it goes for one bug; for the others a few runs show that it works.
SMALLER, WHOLLY = ['--smaller', '15'], 'epoch_ignored'

# What finds it: classes of faults; links; memory with address spaces, and all faults. A campaign without it
# costs as much, so bugs share classes.
LINK = ['--link', '--runs', '100']
SPACES = ['--seed', '200', '--runs', '100', os.path.join(ROOT, 'examples', 'chaos-spaces.json')]
BUGS = {
  'check_skipped': 'bit',
  'write_before_check': 'bit',
  'ack_with_gap': 'lose,cut',
  'timer_forgotten': 'lose,cut',
  'key_in_part': 'forge',
  'not_zeroed': 'forge',
  'no_duplicate_filter': 'duplicate',
  'epoch_ignored': 'duplicate,lose,delay',
  'stored_result_dropped': 'duplicate',
  'circuit_leaked': 'lose,cut',
  'grant_leaked': 'lose,cut',
  'request_leaked': 'lose,link_down',
  'stale_backup': 'switch_crash',
  'early_release': 'duplicate,lose,delay',
  'order_swapped': 'duplicate,lose,delay',
  'duplicate_delivered': LINK,
  'wrap_off_by_one': LINK,
  'stale_connection': LINK,
  'nack_without_timer': LINK,
  'tlb_not_cleared': SPACES,
  'page_not_zeroed': SPACES,
  'second_page_unchecked': SPACES,
  'space_not_in_tag': SPACES,
  'page_twice_in_ring': SPACES,
  'stale_answer': SPACES,
}
# What leaks harms no history: the model of tests/memory finds it.
OF_MODEL = ('slot_leaked', 'late_page_leaked')


def cpu_seconds():
  used = resource.getrusage(resource.RUSAGE_CHILDREN)
  return used.ru_utime + used.ru_stime


def start(command):
  return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        timeout=20 * SECONDS, check=False)


def run(program, *args):
  """The process, how long it took, and one of what it says at its end, with the same bug; None: nothing."""
  with tempfile.TemporaryDirectory() as folder:
    began, cpu = time.monotonic(), cpu_seconds()
    process = start([program, *([] if '--seed' in args else ['--seed', '1']), '--out', folder, *args])
    seconds = min(time.monotonic() - began, cpu_seconds() - cpu)
    said = re.findall('^memfab-chaos (--.*)', process.stdout, re.M)
    plant = args[:2] if args[0] == '--plant' else ()
    return process, seconds, start([program, *plant, *said[0].split()]) if said else None


def campaign(how, base):
  return how if isinstance(how, list) else ['--runs', '120', '--classes', how, base]


def find_planted(tap, planted, base):
  known = subprocess.run([planted, '--plants'], capture_output=True, text=True, check=False).stdout.split()
  tap.ok(sorted(known) == sorted((*BUGS, *OF_MODEL)) and len(BUGS) >= 12, 'all that can be planted is here',
         known)
  for bug, how in BUGS.items():
    smaller = [] if bug == WHOLLY or how is LINK else SMALLER
    process, seconds, again = run(planted, '--plant', bug, *smaller, *campaign(how, base))
    tap.ok(process.returncode == 1 and seconds < SECONDS and '\nseed ' in process.stdout,
           f'{bug}: found', process.stdout + process.stderr)
    tap.ok(again is not None and again.returncode == 1, f'{bug}: repeated',
           again and again.stdout + again.stderr)
    print('#', bug, *[line for line in process.stdout.split('\n') if line.startswith('seed ')],
          f'{seconds:.1f} s')


def main(program, planted, root, sanitize):
  base, tap = os.path.join(root, 'examples', 'chaos.json'), Tap()
  if sanitize == 'none':
    find_planted(tap, planted, base)
  for how in sorted({h for h in BUGS.values() if not isinstance(h, list)}) + [LINK, SPACES]:
    process, *_ = run(program, *campaign(how, base))
    tap.ok(process.returncode == 0, f'without: {" ".join(campaign(how, base)[:4])}',
           process.stdout + process.stderr)
  tap.done()


main(*sys.argv[1:])
