# SPDX-License-Identifier: BSD-3-Clause
"""Which test programs execute which lines: from a folder that is built with -Db_coverage=true, in which
each program runs once."""
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import tempfile
import time

LATEST = 900  # seconds of a program


def gcov(where, build):
  """@return of each file of lib its lines, and how often each was executed"""
  counts = collections.defaultdict(collections.Counter)
  files = [os.path.join(path, name) for path, _, names in os.walk(where) for name in names]
  for file in files:
    notes = file[len(where):-len('.gcda')] + '.gcno'
    if os.path.exists(notes):
      os.symlink(notes, file[:-len('.gcda')] + '.gcno')
  said = subprocess.run(['gcov', '--json-format', '--stdout', *files], capture_output=True, text=True,
                        check=True, cwd=build).stdout
  for line in said.splitlines():
    for file in json.loads(line)['files']:
      inside = re.search(r'(?:^|/)(lib/.*)', os.path.normpath(file['file']))
      for one in file['lines'] if inside else ():
        counts[inside[1]][one['line_number']] += one['count']
  return counts


def measure(build, programs, env, jobs):
  """@return {'lines': {file: {line: [programs]}}, 'seconds': {program: seconds}}"""
  lines = collections.defaultdict(lambda: collections.defaultdict(list))
  seconds = {}

  def once(program):
    with tempfile.TemporaryDirectory(prefix='memfab-coverage-') as where:
      began = time.monotonic()
      subprocess.run([os.path.join(build, program), '-j1'], cwd=build, capture_output=True, check=False,
                     timeout=LATEST, env={**env, 'GCOV_PREFIX': where})
      seconds[program] = time.monotonic() - began
      return program, gcov(where, build)
  with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for program, counts in pool.map(once, programs):
      print(f'{program}: {seconds[program]:.1f} s, {len(counts)} files', flush=True)
      for file, executed in counts.items():
        for line, count in executed.items():
          lines[file][line] += [program] if count else []
  return {'lines': lines, 'seconds': seconds}


class Coverage:
  """Nothing is known where there is no such folder: then every program may execute every line."""

  def __init__(self, folder, programs, env, jobs):
    self.lines, self.seconds = {}, {}
    if folder:
      kept = os.path.join(folder, 'lines.json')
      if not os.path.exists(kept):
        known = measure(os.path.abspath(folder), programs, env, jobs)
        with open(kept, 'w', encoding='utf-8') as file:
          json.dump(known, file)
      with open(kept, encoding='utf-8') as file:
        known = json.load(file)
      self.seconds = known['seconds']
      self.lines = {name: {int(n): set(who) for n, who in of.items()} for name, of in known['lines'].items()}

  def who(self, file, text, line):
    """@return the programs that execute it, or its function where it has no code of its own; None: unknown"""
    of = self.lines.get(file, {})
    if line in of:
      return of[line]
    first = last = line  # of its function, from brace to brace at the start of a line
    while first > 1 and not text[first - 1].startswith('{'):
      if text[first - 1].startswith('}'):
        return None
      first -= 1
    while last < len(text) and not text[last - 1].startswith('}'):
      last += 1
    inside = [who for number, who in of.items() if first <= number <= last]
    return set().union(*inside) if inside else None
