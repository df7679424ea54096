# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report merge: the folders of all shards of a plan become one."""
import os

from . import make, output, shards, store
from . import plan as planning
from .failure import Failure

KEYS = {'size', 'figures', 'commit', 'runs', 'shard', 'of', 'mine', 'run'}


def header(folder):
  """What a shard says of itself."""
  path = os.path.join(folder, shards.FILE)
  if not os.path.isfile(path):
    raise Failure(f'{folder}: no {shards.FILE}: not a finished shard')
  found = store.read_json(path)
  if not (isinstance(found, dict) and KEYS <= found.keys() and isinstance(found['of'], int)
          and all(isinstance(found[key], list) for key in ('figures', 'mine'))
          and isinstance(found['run'], dict) and isinstance(found['run'].get('host_seconds'), (int, float))):
    raise Failure(f'{path}: not what a shard says of itself')
  return found


def check(headers):
  """headers: {folder: header}. All of one plan, each shard once. @return the plan"""
  first = next(iter(headers))
  plan = planning.make(headers[first]['size'], headers[first]['figures'])
  count, seen = headers[first]['of'], {}
  for folder, found in headers.items():
    for key, value in {**plan.text(), 'of': count}.items():
      if found[key] != value:
        other = 'this program' if folder == first else first
        raise Failure(f'{folder}: not a shard of the same plan: its {key} is not that of {other}')
    if found['shard'] in seen:
      raise Failure(f'shard {found["shard"]}/{count} twice: {seen[found["shard"]]} and {folder}')
    seen[found['shard']] = folder
  for number in range(1, count + 1):
    if number not in seen:
      raise Failure(f'shard {number}/{count} is missing')
  return plan


def merge(folders, target):
  """@return exit status"""
  headers = {}
  for folder in folders:
    if folder in headers:
      raise Failure(f'{folder}: named twice')
    headers[folder] = header(folder)
  plan, records = check(headers), {}
  output.apart([('SHARD', folder) for folder in folders], [('-o', target)])
  for folder, found in headers.items():
    for i in found['mine']:
      records[i] = store.load(folder, i)
      if records[i] is None:
        raise Failure(f'{os.path.join(folder, store.RUNS, i)}.json: missing')
  absent = {r.id for r in plan.runs()} - records.keys()
  if absent:
    raise Failure(f'run {min(absent)} is in no shard')
  store.folder(target)
  store.clear(target, records)
  for record in records.values():
    store.save(target, record)
  host = {'shards': len(headers), 'host_seconds': sum(h['run']['host_seconds'] for h in headers.values())}
  store.write_json(os.path.join(target, shards.FILE), shards.header(plan, 1, 1, plan.runs(), host))
  return make.finish(target, plan, records, host)
