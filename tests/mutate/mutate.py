#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the tests notice a line of protocol code that is wrong: changes single lines, drawn from a seed, and runs
the tests that use the file until one fails.

  mutate.py [options] TREE

TREE is a copy of the sources, which is changed and put right again; without one of that name it is made, as a
worktree of this repository. Its folder build is configured if it is not there. Not a test of the suite: see
README.md beside this file.
"""
import argparse
import collections
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from edits import changes

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ('pcs', 'proto', 'sched', 'switch', 'link', 'memory', 'linear', 'fault', 'host')
MEMORY = 6 << 30  # octets of a test that has gone wild
OBJECTS_MOST = 12  # of a header: what all include is changed in none
NOTICED, SURVIVED, SAME, NOT_COMPILED = 'noticed', 'survived', 'same object', 'not compiled'


def command(*args, **more):
  return subprocess.run(args, capture_output=True, text=True, check=False, **more)


class Build:
  """The build folder: which objects a file is part of, and which test programs they are in."""

  def __init__(self, tree):
    self.tree, self.folder = tree, os.path.join(tree, 'build')
    self.objects = collections.defaultdict(list)  # by file, as the build names them
    name = None
    for line in command('ninja', '-t', 'deps', cwd=self.folder).stdout.splitlines():
      if line and not line.startswith(' '):
        name = line.split(':')[0]
      elif line.startswith('    ../lib/'):
        self.objects[line.strip()[3:]].append(name)
    self.symbols = {}
    self.programs = sorted(re.findall(r'^(tests/test_\w+): c_LINKER', self.ninja('-t', 'targets', 'all').stdout, re.M))
    self.times = {}
    self.good = os.path.join(tree, 'good')  # the programs as they are when nothing is wrong
    if not os.path.exists(self.good):
      os.mkdir(self.good)
      for program in self.programs:
        shutil.copy2(os.path.join(self.folder, program), self.good)
    self.defined = {program: self.names(self.copy(program)) for program in self.programs}

  def ninja(self, *args):
    return command('ninja', '-C', self.folder, *args)

  def names(self, path):
    return set(command('nm', '-g', '--defined-only', '-j', path, cwd=self.folder).stdout.split())

  def build(self, *targets):
    return self.ninja('-j2', *targets).returncode == 0

  def code(self, objects):
    """What they are without what is for debuggers."""
    codes = []
    for name in objects:
      with tempfile.NamedTemporaryFile() as file:
        command('objcopy', '--strip-debug', name, file.name, cwd=self.folder)
        codes.append(file.read())
    return codes

  def users(self, file):
    """The test programs that a file is in: those of its own folder first, then the quick ones."""
    objects = self.objects[file]
    folder, stem = file.split('/')[1], os.path.basename(file).split('.')[0]
    wanted = set()
    for name in objects:
      wanted |= {name for name in self.names(name) if not name.startswith('.')}
    inside = [p for p, names in self.defined.items() if names & wanted]
    inside += [p for p in self.programs if any(o.startswith(f'{p}.p/') for o in objects) and p not in inside]

    def likelihood(program):
      name = program.split('test_')[1]
      return (not name.startswith(folder), stem not in name, self.times.get(program) or 1)
    return sorted(inside, key=likelihood)

  def copy(self, program):
    return os.path.join(self.good, os.path.basename(program))

  def run(self, program, limit):
    """@return why it failed, or None"""
    def bounds():
      resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
      resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
      os.setsid()
    env = {**os.environ, 'MF_VECTORS': os.path.join(self.tree, 'tests', 'vectors')}
    with subprocess.Popen([os.path.join(self.folder, program), '-j1', '--fail-fast', '--short-filename'], env=env,
                          cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', preexec_fn=bounds) as process:
      try:
        said, _ = process.communicate(timeout=limit)
      except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return 'no end'
    if process.returncode == 0:
      return None
    failed = re.search(r'\[FAIL\] (\S+?):? ', said) or re.search(r'\[----\] \S+ Unexpected', said)
    return f'{failed[0] if failed else "it crashed"}{" timed out" if "Timed out" in said else ""}'

  def usual(self, program):
    """Seconds that it takes when nothing is wrong; None: it fails then, and is not asked."""
    if program not in self.times:
      began = time.monotonic()
      why = self.run(self.copy(program), 900)
      self.times[program] = time.monotonic() - began if why is None else None
      if why is not None:
        print(f'{program} fails as it is ({why}): it is not asked', flush=True)
    return self.times[program]


def read(path):
  with open(path, encoding='utf-8') as file:
    return file.read().split('\n')


def write(path, lines):
  with open(path, 'w', encoding='utf-8') as file:
    file.write('\n'.join(lines))


def ask(build, change, objects, original, most):
  """@return outcome, by whom, tests that were asked"""
  if not build.build(*objects):
    return NOT_COMPILED, '', 0
  if build.code(objects) == original:
    return SAME, '', 0
  asked = 0
  for program in build.users(change['file']):
    usual = build.usual(program)
    if usual is None or usual > most:
      continue
    if not build.build(program):
      return NOT_COMPILED, program, asked
    asked += 1
    why = build.run(program, 60 + 10 * usual)
    if why is not None and 'timed out' in why:  # the machine may have been busy
      why = build.run(program, 60 + 10 * usual)
    if why is not None:
      return NOTICED, f'{os.path.basename(program)}: {why}', asked
  return SURVIVED, '', asked


def attempt(build, change, most):
  path = os.path.join(build.tree, change['file'])
  lines = read(path)
  at, before = change['line'] - 1, change['before']
  if lines[at:at + len(before)] != before:
    return 'the line is another one now', '', 0
  objects = [o for o in build.objects[change['file']] if o.startswith(('lib/', 'tests/test_'))]
  if not build.build(*objects):
    sys.exit(f'{change["file"]} does not compile as it is')
  original = build.code(objects)
  try:
    write(path, lines[:at] + change['after'] + lines[at + len(before):])
    return ask(build, change, objects, original, most)
  finally:
    write(path, lines)


def drawn(build, options, known):
  """One change after the other: a folder, a file by its length, a kind, a place."""
  rng = random.Random(options.seed)
  every = collections.defaultdict(list)
  for file in sorted(build.objects):
    folder = file.split('/')[1]
    objects = [o for o in build.objects[file] if o.startswith('lib/')]
    if folder in options.folders.split(',') and len(objects) <= OBJECTS_MOST:
      every[folder] += [(file, change) for change in changes(read(os.path.join(build.tree, file)))]
  seen = {(c['file'], c['line'], tuple(c['after'])) for c in known}
  while any(every.values()):
    folder = rng.choice([name for name in sorted(every) if every[name]])
    kind = rng.choice(sorted({change[0] for _, change in every[folder]}))
    file, change = rng.choice([one for one in every[folder] if one[1][0] == kind])
    every[folder].remove((file, change))
    _, number, before, after = change
    if (file, number + 1, tuple(after)) not in seen:
      yield {'file': file, 'line': number + 1, 'kind': kind, 'before': before, 'after': after}


def equivalents():
  """Changes that make no difference, each with its reason: file, what it was, what it is."""
  path = os.path.join(HERE, 'equivalent.json')
  if not os.path.exists(path):
    return {}
  with open(path, encoding='utf-8') as file:
    return {(e['file'], e['before'], e['after']): e['reason'] for e in json.load(file)}


def key(change):
  return change['file'], '\n'.join(change['before']).strip(), '\n'.join(change['after']).strip()


def table(results):
  same = equivalents()
  count = collections.defaultdict(collections.Counter)
  for r in results:
    outcome = 'equivalent' if r['outcome'] == SURVIVED and key(r) in same else r['outcome']
    for row in (r['file'].split('/')[1], r['kind'], 'in all'):
      count[row][outcome] += 1
  columns = (NOTICED, SURVIVED, 'equivalent', SAME)
  print(f'{"":20}' + ''.join(f'{name:>13}' for name in columns) + f'{"share":>9}')
  rows = sorted(count, key=lambda name: (name == 'in all', name not in FOLDERS, name))
  for row in rows:
    noticed, real = count[row][NOTICED], count[row][NOTICED] + count[row][SURVIVED]
    share = f'{100 * noticed / real:8.1f}%' if real else ''
    print(f'{row:20}' + ''.join(f'{count[row][name]:13}' for name in columns) + share)
  for r in results:
    if r['outcome'] == SURVIVED:
      file, before, after = key(r)
      print(f'\n{file}:{r["line"]} {r["kind"]}, {r["asked"]} programs asked\n  {before}\n  {after}\n'
            f'  {same.get((file, before, after), "NOT NOTICED")}')


def load(path):
  if not os.path.exists(path):
    return []
  with open(path, encoding='utf-8') as file:
    return [json.loads(line) for line in file]


def save(path, results):
  with open(path, 'w', encoding='utf-8') as file:
    file.writelines(json.dumps(r) + '\n' for r in results)


def prepared(tree):
  root = os.path.dirname(os.path.dirname(HERE))
  if not os.path.exists(tree):
    subprocess.run(['git', '-C', root, 'worktree', 'add', '--detach', tree], check=True)
  if not os.path.exists(os.path.join(tree, 'build', 'build.ninja')):
    subprocess.run(['meson', 'setup', '-Dtests=true', '-Dlto=false', '-Doptimization=1', 'build'], cwd=tree, check=True)
    subprocess.run(['ninja', '-C', os.path.join(tree, 'build')], check=True)
  return Build(tree)


def run(options, results):
  build = prepared(os.path.abspath(options.tree))
  times = options.results + '.times'
  if os.path.exists(times):
    with open(times, encoding='utf-8') as file:
      build.times = json.load(file)
  if options.again:
    todo = [r for r in results if r['outcome'] == SURVIVED and key(r) not in equivalents()]
  else:
    todo = drawn(build, options, results)
  left = options.changes
  for change in todo:
    if left <= 0 and not options.again:
      break
    began = time.monotonic()
    outcome, by, asked = attempt(build, change, options.most)
    change.update(outcome=outcome, by=by, asked=asked)
    if not options.again:
      results.append(change)
    save(options.results, results)
    with open(times, 'w', encoding='utf-8') as file:
      json.dump(build.times, file)
    left -= outcome in (NOTICED, SURVIVED)
    print(f'{change["file"]}:{change["line"]} {change["kind"]}: {outcome} {by} ({time.monotonic() - began:.0f} s)',
          flush=True)


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument('tree', nargs='?', help='without it the table of the results is printed, and nothing is run')
  parser.add_argument('--changes', type=int, default=200, help='that compile and make another object (200)')
  parser.add_argument('--seed', type=int, default=1)
  parser.add_argument('--folders', default=','.join(FOLDERS), help='of lib, with commas between them')
  parser.add_argument('--most', type=float, default=60, help='seconds that a test program usually takes, of those asked')
  parser.add_argument('--results', default='mutate.jsonl', help='file that results are added to')
  parser.add_argument('--again', action='store_true', help='no new ones: those that were not noticed')
  options = parser.parse_args()
  results = load(options.results)
  if options.tree:
    run(options, results)
  table(results)


if __name__ == '__main__':
  main()
