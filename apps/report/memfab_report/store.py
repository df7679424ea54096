# SPDX-License-Identifier: BSD-3-Clause
"""Records of runs in a folder, one file each: id, fabric, and result and run, or error."""
import json
import os
import re

from .failure import Failure

RUNS = 'runs'


def pruned(value):
  """Without histograms: the figures are made of means and percentiles."""
  if isinstance(value, dict):
    return {key: pruned(v) for key, v in value.items() if not key.startswith('histogram')}
  return [pruned(v) for v in value] if isinstance(value, list) else value


def write_json(path, value):
  """Whole or not at all."""
  try:
    with open(path + '.part', 'w', encoding='utf-8') as file:
      json.dump(value, file, indent=1)
      file.write('\n')
    os.replace(path + '.part', path)
  except OSError as error:
    raise Failure(f'{path}: {error.strerror}') from error


def read_json(path):
  try:
    with open(path, encoding='utf-8') as file:
      return json.load(file)
  except OSError as error:
    raise Failure(f'{path}: {error.strerror}') from error
  except (ValueError, RecursionError) as error:
    raise Failure(f'{path}: not JSON: {" ".join(str(error).split())}') from error


def folder(path, inside=(RUNS,)):
  """Made where it is not there, with what is in it."""
  try:
    os.makedirs(os.path.join(path, *inside), exist_ok=True)
  except OSError as error:
    raise Failure(f'{path}: {error.strerror}') from error
  return path


def clear(path, wanted):
  """Removes the records of other runs, of which this program has left some here."""
  for name in os.listdir(os.path.join(path, RUNS)):
    if re.fullmatch('[0-9a-f]{20}[.]json', name) and name[:20] not in wanted:
      remove(os.path.join(path, RUNS, name))


def remove(path):
  try:
    os.unlink(path)
  except FileNotFoundError:
    pass
  except OSError as error:
    raise Failure(f'{path}: {error.strerror}') from error


def save(path, record):
  write_json(os.path.join(path, RUNS, record['id'] + '.json'), record)


def load(path, run_id):
  """A record, or None where the folder has not got it."""
  name = os.path.join(path, RUNS, run_id + '.json')
  if not os.path.exists(name):
    return None
  record = read_json(name)
  if not isinstance(record, dict) or record.get('id') != run_id or not {'result', 'error'} & record.keys():
    raise Failure(f'{name}: not the record of that run')
  return record
