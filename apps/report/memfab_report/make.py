# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report figures: makes the runs of a plan, or a shard of them, and the page of the whole."""
import os
import sys
import time

from . import output, plot, report, shards, store

INTERRUPTED = 130


def figures(plan, folder, runner, shard=None):
  """shard: (i, n), i from 1. @return exit status"""
  output.apart([('--emu', runner.emu)],
               [('-o', os.path.join(folder, name)) for name in (shards.FILE, *report.FILES)])
  store.folder(folder)
  store.remove(os.path.join(folder, shards.FILE))  # of another run: it is not finished yet
  if not shard:
    plot.library()  # before the work, not behind it
  number, count = shard or (1, 1)
  runs, made = shards.cut(plan.runs(), count)[number - 1], []

  def keep(record):
    store.save(folder, record)
    made.append(record['id'])
  store.clear(folder, ())
  began = time.monotonic()
  whole = runner.all(runs, keep)
  host = {'host_seconds': time.monotonic() - began, 'jobs': runner.jobs}
  if whole:
    store.write_json(os.path.join(folder, shards.FILE), shards.header(plan, number, count, runs, host))
  if not shard:
    status = finish(folder, plan, {i: store.load(folder, i) for i in made}, host)
    return status if whole else INTERRUPTED
  print(f'shard {number}/{count}: {len(made)} of {len(runs)} runs in {folder}'
        + ('; when all are made: memfab-report merge' if whole else ': interrupted'))
  return 0 if whole else INTERRUPTED


def finish(folder, plan, records, host):
  """Writes all and says what is missing."""
  studies = report.write(folder, plan, records, host)
  lost = report.missing(studies)
  for line in lost:
    print(f'missing: {line}', file=sys.stderr)
  cells = sum(len(s.points) for s in studies)
  print(f'{cells - sum(len(s.missing) for s in studies):,} of {cells:,} cells: '
        f'{os.path.join(folder, "figures.html")}')
  return 1 if lost else 0
