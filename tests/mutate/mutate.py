#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the tests notice a line of protocol code that is wrong: changes single lines, drawn from a seed,
and runs the tests that use the file until one fails.

  mutate.py [options] BUILD

BUILD is a folder with all tests built (without LTO). Neither it nor the sources are changed: a changed file
is compiled elsewhere, and linked in front of the libraries. Not a test of the suite: see README.md beside
this file. """
import argparse
import collections
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from coverage import Coverage
from edits import changes

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ROOMS = ('pcs', 'link', 'memory', 'linear', 'fault', 'systems/frames', 'systems/edm/proto',
         'systems/edm/sched', 'systems/edm/fault', 'systems/edm/host', 'systems/edm/switch')
MEMORY = 6 << 30  # octets of a test that has gone wild
DRAWN = 3  # changes for each that is to be tried
OBJECTS_MOST = 12  # of a header: what all include is changed in none
NOTICED, SURVIVED, SAME = 'noticed', 'survived', 'same object'
NOT_COMPILED, GONE, OTHER_CPU = 'not compiled', 'line is gone', 'for another CPU'


def is_for_another_cpu(file):
  """What this one cannot execute no test executes here."""
  with open('/proc/cpuinfo', encoding='utf-8') as info:
    flags = set(re.search(r'^flags\s*:(.*)', info.read(), re.M)[1].split())
  return 'avx512' in file and not {'avx512_vbmi2', 'vpclmulqdq'} <= flags


def room_of(file):
  return os.path.dirname(file)[len('lib/'):]


def command(*args, **more):
  return subprocess.run(args, capture_output=True, text=True, check=False, **more)


class Build:
  """The build folder: which objects a file is part of, which test programs they are in, and how these are
  made."""

  def __init__(self, folder, coverage, jobs):
    self.folder = os.path.abspath(folder)
    self.work = None  # a folder of each worker
    self.times = {}
    self.symbols = {}  # by object
    self.originals = {}  # what is in the objects of a file
    self.env = {**os.environ, 'MF_VECTORS': os.path.join(ROOT, 'tests', 'vectors')}
    self.find_objects()
    self.find_programs()
    self.coverage = Coverage(coverage, sorted(self.link), self.env, jobs)

  def find_objects(self):
    with open(os.path.join(self.folder, 'compile_commands.json'), encoding='utf-8') as file:
      self.compile = {entry['output']: entry for entry in json.load(file)}
    self.objects = collections.defaultdict(list)  # by file
    name = None
    for line in command('ninja', '-t', 'deps', cwd=self.folder).stdout.splitlines():
      if line and not line.startswith(' '):
        name = line.split(':')[0]
      elif (line.startswith('    ../lib/') and name.startswith(('lib/', 'tests/test_'))
            and 'planted' not in name):
        self.objects[line.strip()[3:]].append(name)

  def find_programs(self):
    names = re.findall(r'^(tests/test_\w+): c_LINKER',
                       command('ninja', '-t', 'targets', 'all', cwd=self.folder).stdout,
                       re.M)
    self.link = {}
    for line in command('ninja', '-t', 'commands', *names, cwd=self.folder).stdout.splitlines():
      made = re.search(r' -o (tests/test_\w+) ', line)
      if made and '-Wl,--start-group' in line:
        self.link[made[1]] = line
    self.defined = self.names(*self.link)

  def names(self, *paths):
    """What programs or objects define for others."""
    names = {path: set() for path in paths}
    for line in command('nm', '-A', '-g', '--defined-only', *paths, cwd=self.folder).stdout.splitlines():
      path, name = line.split(':', 1)
      names[path].add(name.split()[-1])
    return names

  def object(self, name, room):
    """Compiles it with the room as it is in self.work. @return its file, or None"""
    entry = self.compile[name]
    source, copy = entry['file'], os.path.join(self.work, 'lib')
    out = os.path.join(self.work, name.replace('/', '_'))
    inside = os.path.join(copy, room, os.path.basename(source))
    if os.path.dirname(source) == f'../lib/{room}':
      source = inside
    args = [a for a in shlex.split(entry['command']) if not a.startswith(('-O', '-g', '-W'))]
    at = args.index('-o')
    args[at + 1] = out
    args = [a for a in args[:args.index('-MD')] + args[at:] if a != 'ccache']
    args[args.index('-c') + 1] = source
    made = command(*args[:1], '-I', copy, *args[1:], '-O1', '-w', cwd=self.folder)
    return out if made.returncode == 0 else None

  def program(self, name, objects):
    """Links it with objects in place of those of the libraries, or of its own."""
    line = self.link[name]
    out = os.path.join(self.work, 'changed')
    front = [file for object_name, file in objects.items() if object_name.startswith('lib/')]
    for object_name, file in objects.items():
      line = line.replace(f' {object_name} ', f' {file} ')
    line = line.replace(' -Wl,--start-group', f' {" ".join(front)} -Wl,--strip-debug -Wl,--start-group', 1)
    line = line.replace(f' -o {name} ', f' -o {out} ', 1)
    if shutil.which('ld.lld'):
      line += ' -fuse-ld=lld'
    return out if command(*shlex.split(line), cwd=self.folder).returncode == 0 else None

  def users(self, file, text, line):
    """The test programs that a file is in, and that execute the line where that is known: those of its own
    folder first, then the quick ones. Of a line that none executes those of the folder: the death of a
    process leaves nothing of what it has executed."""
    folder, stem = os.path.basename(room_of(file)), os.path.basename(file).split('.')[0]
    wanted = set()
    for name in self.objects[file]:
      if name not in self.symbols:
        self.symbols.update(self.names(name))
      wanted |= self.symbols[name] if name.startswith('lib/') else set()
    inside = [program for program, names in self.defined.items() if names & wanted or
              any(name.startswith(f'{program}.p/') for name in self.objects[file])]
    who = self.coverage.who(file, text, line)

    def likelihood(program):
      name = program.split('test_')[1]
      return (not name.startswith(folder), stem not in name, self.usual(program) or 1)

    def executes(program):
      return program in who if who else who is None or program.split('test_')[1].startswith(folder)
    return sorted(filter(executes, inside), key=likelihood)

  def usual(self, program):
    """@return seconds that it takes where the machine has nothing else to do; None: it is not asked"""
    known = [times[program] for times in (self.times, self.coverage.seconds) if program in times]
    return None if None in known else min(known, default=0)

  def run(self, program, limit):
    """@return why it failed, or None"""
    def bounds():
      resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
      resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
      os.setsid()
    with subprocess.Popen([os.path.join(self.folder, program), '-j1', '--fail-fast', '--short-filename'],
                          env=self.env,
                          cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', preexec_fn=bounds) as process:
      try:
        said, _ = process.communicate(timeout=limit)
      except subprocess.TimeoutExpired:
        return 'no end'
      finally:
        if process.poll() is None:
          os.killpg(process.pid, 9)
    if process.returncode == 0:
      return None
    failed = re.search(r'\[FAIL\] (\S+?):? ', said) or re.search(r'\[----\] \S+ Unexpected', said)
    return f'{failed[0] if failed else "it crashed"}{" timed out" if "Timed out" in said else ""}'

  def passes_as_it_is(self, program):
    why = self.run(program, 900)
    if why is not None:
      print(f'{program} fails as it is ({why}): it is not asked', flush=True)
      self.times[program] = None
    return why is None

  def ask(self, program, changed):
    """@return why it failed, or None; it may not be asked when it fails with nothing wrong, too"""
    limit = 30 + 10 * (self.usual(program) or 30)
    began = time.monotonic()
    why = self.run(changed, limit)
    if why is None:
      self.times[program] = min(time.monotonic() - began, self.times.get(program, 900))
    elif why != 'no end':  # the machine may have been busy: it counts when it comes twice
      why = self.run(changed, limit)
    if why is not None and program not in self.times and not self.passes_as_it_is(program):
      return None
    return why


def read(path):
  with open(path, encoding='utf-8') as file:
    return file.read().split('\n')


def write(path, lines):
  with open(path, 'w', encoding='utf-8') as file:
    file.write('\n'.join(lines))


def ask(build, users, objects, most):
  """@return outcome, by whom, tests that were asked"""
  asked = 0
  for program in users:
    usual = build.usual(program)
    if usual is None or usual > most:
      continue
    changed = build.program(program, objects)
    if changed is None:
      return NOT_COMPILED, program, asked
    asked += 1
    why = build.ask(program, changed)
    if why is not None:
      return NOTICED, f'{os.path.basename(program)}: {why}', asked
  return SURVIVED, '', asked


def compiled(build, file):
  """@return files of objects, and what is in them; None where one does not compile"""
  objects = {name: build.object(name, room_of(file)) for name in build.objects[file]}
  if None in objects.values():
    return None, None
  codes = []
  for path in objects.values():
    with open(path, 'rb') as made:
      codes.append(made.read())
  return objects, codes


def attempt(build, change, most):
  file = change['file']
  if is_for_another_cpu(file):
    return OTHER_CPU, '', 0
  copy = os.path.join(build.work, 'lib', room_of(file))
  shutil.rmtree(copy, ignore_errors=True)
  shutil.copytree(os.path.join(ROOT, os.path.dirname(file)), copy)
  path = os.path.join(copy, os.path.basename(file))
  lines, before = read(path), change['before']
  places = [at for at in range(len(lines)) if lines[at:at + len(before)] == before]
  if not places:
    return GONE, '', 0
  # Lines may have come or gone since it was drawn.
  at = min(places, key=lambda place: abs(place - (change['line'] - 1)))
  if file not in build.originals:
    objects, build.originals[file] = compiled(build, file)
    if objects is None:
      sys.exit(f'{file} does not compile as it is')
  users = build.users(file, lines, at + 1)
  write(path, lines[:at] + change['after'] + lines[at + len(before):])
  objects, code = compiled(build, file)
  if objects is None:
    return NOT_COMPILED, '', 0
  return (SAME, '', 0) if code == build.originals[file] else ask(build, users, objects, most)


def drawn(build, options, known):
  """One change after the other: a room, a file by its length, a kind, a place."""
  rng = random.Random(options.seed)
  every = collections.defaultdict(list)
  for file in sorted(build.objects):
    room = room_of(file)
    objects = [o for o in build.objects[file] if o.startswith('lib/')]
    if room in options.rooms.split(',') and len(objects) <= OBJECTS_MOST:
      every[room] += [(file, change) for change in changes(read(os.path.join(ROOT, file)))]
  seen = {(c['file'], c['line'], tuple(c['after'])) for c in known}
  while any(every.values()):
    room = rng.choice([name for name in sorted(every) if every[name]])
    kind = rng.choice(sorted({change[0] for _, change in every[room]}))
    file, change = rng.choice([one for one in every[room] if one[1][0] == kind])
    every[room].remove((file, change))
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
    for row in (room_of(r['file']), r['kind'], 'in all'):
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
  """Of a change that was tried again the last outcome."""
  results = {}
  if os.path.exists(path):
    with open(path, encoding='utf-8') as file:
      for r in map(json.loads, file):
        results[r['file'], r['line'], tuple(r['after'])] = r
  return list(results.values())


def work(build, options, todo, share):
  """One of several that try each its share."""
  build.work = tempfile.mkdtemp(prefix='memfab-mutate-')
  left = options.changes // options.jobs
  try:
    for number, change in enumerate(todo):
      if left <= 0 or number % options.jobs != share:
        continue
      began = time.monotonic()
      outcome, by, asked = attempt(build, change, options.most)
      change.update(outcome=outcome, by=by, asked=asked)
      with open(options.results, 'a', encoding='utf-8') as file:
        file.write(json.dumps(change) + '\n')
      left -= outcome in (NOTICED, SURVIVED)
      took = time.monotonic() - began
      print(f'{change["file"]}:{change["line"]} {change["kind"]}: {outcome} {by} ({took:.0f} s)', flush=True)
      if left <= 0:
        break
  finally:
    shutil.rmtree(build.work)


def run(options, results):
  build = Build(options.build, options.coverage, options.jobs)
  if options.again:
    todo = [r for r in results if r['outcome'] == SURVIVED and key(r) not in equivalents()]
  else:  # some do not compile, or make no difference to the compiler
    todo = list(itertools.islice(drawn(build, options, results), DRAWN * options.changes))
  for share in range(options.jobs):
    if os.fork() == 0:
      work(build, options, todo, share)
      sys.exit(0)
  for _ in range(options.jobs):
    os.wait()


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument('build', nargs='?',
                      help='without it the table of the results is printed, and nothing is run')
  parser.add_argument('--coverage',
                      help='folder with all tests, made with -Db_coverage=true: only those that execute a '
                      'line are asked')
  parser.add_argument('--changes', type=int, default=200, help='that compile and make another object (200)')
  parser.add_argument('--seed', type=int, default=1)
  parser.add_argument('--rooms', default=','.join(ROOMS), help='of lib, with commas between them')
  parser.add_argument('--most', type=float, default=60,
                      help='seconds that a test program usually takes, of those asked')
  parser.add_argument('--results', default='mutate.jsonl', help='file that results are added to')
  parser.add_argument('--jobs', type=int, default=1, help='changes that are tried at a time')
  parser.add_argument('--again', action='store_true', help='no new ones: those that were not noticed')
  options = parser.parse_args()
  signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
  if options.build:
    run(options, load(options.results))
  table(load(options.results))


if __name__ == '__main__':
  main()
