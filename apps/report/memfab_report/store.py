# SPDX-License-Identifier: BSD-3-Clause
"""Records of runs in a folder, one file each: id, fabric, and result and run, or error."""
import json
import math
import os
import re

from . import output
from .failure import Failure

RUNS = 'runs'
MOST = 256 << 20  # octets of a file
DEPTH = 50  # of objects and lists in each other


def pruned(value):
  """Without histograms: the figures are made of means and percentiles."""
  if isinstance(value, dict):
    return {key: pruned(v) for key, v in value.items() if not key.startswith('histogram')}
  return [pruned(v) for v in value] if isinstance(value, list) else value


def write_json(path, value):
  with output.whole(path) as file:
    json.dump(value, file, indent=1)
    file.write('\n')


def read_json(path):
  """Of a file of at most MOST octets. Numbers are those that there are: finite, whole ones within 64 bits."""
  try:
    with open(path, 'rb') as file:
      text = file.read(MOST + 1)
    if len(text) > MOST:
      raise Failure(f'{path}: more than {MOST >> 20} MiB, which no result is')
    found = json.loads(text, parse_constant=no_number, parse_float=real, parse_int=whole_number)
    check_depth(found)
    return found
  except OSError as error:
    raise Failure(f'{path}: {error.strerror}') from error
  except (ValueError, RecursionError) as error:
    raise Failure(f'{path}: not JSON: {" ".join(str(error).split())}') from error


def no_number(text):
  raise ValueError(f'{text} is no number')


def real(text):
  value = float(text)
  return value if math.isfinite(value) else no_number(text[:40])


def whole_number(text):
  value = int(text) if len(text) <= 20 else 1 << 64
  return value if abs(value) < 1 << 64 else no_number(text[:40])


def check_depth(value):
  """What is deeper than any result is not walked through: that would take all of the stack."""
  level = [value]
  for _ in range(DEPTH):
    level = [inside for one in level if isinstance(one, (dict, list))
             for inside in (one.values() if isinstance(one, dict) else one)]
    if not level:
      return
  raise ValueError(f'more than {DEPTH} levels of brackets')


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
