#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tutorial of docs/adding-a-system.md works: its code is added to a copy of the tree, built, and run.

    tutorial.py PAGE [BUILD]

PAGE is a document of the tree. Its blocks with file=NAME are files, or changes of files (diff). They may
change lib/rooms and meson.build alone. BUILD is a build folder (default: build): objects of files that do not
change are taken from there. Without one, all is built.
"""
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))
from emu import Emu, Tap
from reader import Reader, WAIT

BLOCK = re.compile(r'^```(\w+) file=(\S+)\n(.*?)^```$', re.M | re.S)
LINES = 150  # of a file of the page
OTHERS = re.compile(r'build|\.git|\.cache')  # in the root, what is no part of the tree
PROGRAMS = {name: f'apps/{name}/memfab-{name}' for name in ('emu', 'perf', 'chaos')}
BUILT = ('apps', 'docs', 'drivers', 'lib', 'tools', 'meson-info', 'meson-private', '.ninja_deps',
         '.ninja_log', 'build.ninja', 'compile_commands.json')
ETHER_TYPE = b'\x88\xb5'


def read(*path):
  with open(os.path.join(*path), encoding='utf-8') as file:
    return file.read()


def write(text, *path):
  os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
  with open(os.path.join(*path), 'w', encoding='utf-8') as file:
    file.write(text)


def change(text, diff):
  """The text with lines that begin with - replaced by those with +. None: they are not there just once."""
  old = ''.join(line[1:] for line in diff.splitlines(True) if line[0] in '- ')
  new = ''.join(line[1:] for line in diff.splitlines(True) if line[0] in '+ ')
  return text.replace(old, new) if text.count(old) == 1 else None


# The copy

def copy_tree(to):
  shutil.copytree(ROOT, to, symlinks=True, ignore=lambda folder, names: [
    name for name in names if name == '__pycache__' or (folder == ROOT and OTHERS.match(name))])


def apply(tap, page, to, folder):
  """Adds the blocks to the tree; those of JSON are fabric files. @return whether all could be added"""
  wrong, long = [], []
  for kind, name, text in BLOCK.findall(page):
    if kind == 'json':
      write(text, folder, name)
    elif kind == 'diff':
      changed = change(read(to, name), text)
      if changed is None:
        wrong.append(f'{name} has not the lines of the page, or twice:\n{text}')
      else:
        write(changed, to, name)
    else:
      long += [name] * (len(text.splitlines()) > LINES)
      wrong += [f'{name} is there already'] * os.path.exists(os.path.join(to, name))
      write(text, to, name)
  tap.ok(not long, f'no file of the page has more than {LINES} lines', long)
  return tap.ok(not wrong, 'all blocks of the page fit the tree', '\n'.join(wrong))


def changed_files(to):
  """Files of the tree that are not the same, or not there, in the copy."""
  for folder, _, names in os.walk(to):
    there = os.path.normpath(os.path.join(ROOT, os.path.relpath(folder, to)))
    for name in sorted(names):
      path = os.path.join(there, name)
      if os.path.isfile(path) and not filecmp.cmp(path, os.path.join(folder, name), shallow=False):
        yield os.path.relpath(path, ROOT)


def run(*command, cwd=None):
  return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT, text=True, check=False)


def without_lto(to):
  """Links programs of the machine code that objects have beside what is for optimising them as a whole."""
  text = re.sub(r'^( LINK_ARGS = .*)-flto=auto -ffat-lto-objects', r'\1-fno-lto',
                read(to, 'build', 'build.ninja'), flags=re.M)
  write(text, to, 'build', 'build.ninja')


def build(tap, to, used):
  """@return whether it was built"""
  setup = ['meson', 'setup', 'build', '-Dtests=false', '-Dlto=false']
  if os.path.exists(os.path.join(used, 'build.ninja')):
    os.mkdir(os.path.join(to, 'build'))
    for name in BUILT:
      path = os.path.join(used, name)
      if os.path.exists(path):
        run('cp', '-a', path, os.path.join(to, 'build'))
    setup = ['meson', 'setup', '--reconfigure', 'build', '-Dtests=false', '-Dplanted=false', '-Dbench=false']
  made = run(*setup, cwd=to)
  if made.returncode == 0:
    without_lto(to)
    made = run('ninja', '-C', 'build', *PROGRAMS.values(), cwd=to)
  return tap.ok(made.returncode == 0, 'it is built', made.stdout[-3000:])


# What runs

class Toy:
  """The programs with the toys, and the fabric files of the page."""

  def __init__(self, to, folder):
    self.folder = folder
    self.program = {name: os.path.join(to, 'build', path) for name, path in PROGRAMS.items()}
    self.emu = Emu(self.program['emu'], to)

  def path(self, name):
    return os.path.join(self.folder, name)

  def fabric(self, name, **change_of):
    """A copy of a fabric file with other values."""
    made = dict(json.loads(read(self.path(name))), **change_of)
    write(json.dumps(made), self.path('changed.json'))
    return self.path('changed.json')

  def result(self, *args):
    process, result = self.emu.result(*args)
    return process, result['result'] if result is not None else {}


def counters(result):
  """All counters of the toys in a result, or in what telemetry has of it."""
  found = {}
  for key in ('stack', 'bridge'):
    found.update(result.get(key, {}).get('counters', {}))
  found.update({key: value for key, value in result.get('scheduler', {}).items() if key.startswith('turns_')})
  return found


OWN = {'toy.json': ('frames_stale', 'shortages', 'drop_places', 'waiting_max'),
       'toy-edm.json': ('turns_kept', 'turns_lost')}


def has(values, name):
  return [key for key in OWN[name] if key not in values]


def virtual(tap, toy):
  for name in OWN:
    process, result = toy.result('--clock', 'virtual', toy.path(name))
    found = counters(result)
    tap.ok(process.returncode == 0 and not has(found, name) and result['operations']['verified'] > 0,
           f'{name}: sound under the virtual clock, its counters are in the result',
           f'{process.stdout[-500:]}{process.stderr} {found}')
    tap.ok(all(key.replace('_', ' ') in process.stdout for key in OWN[name] if name == 'toy.json'),
           f'{name}: and in the report', process.stdout)
    _, other = toy.result('--clock', 'virtual', '--block-by-block', toy.path(name))
    tap.ok(other == result, f'{name}: the same block by block')
  _, result = toy.result('--clock', 'virtual', toy.path('toy.json'))
  _, calm = toy.result('--clock', 'virtual', toy.fabric('toy.json', faults=[]))
  found, none = counters(result), counters(calm)
  tap.ok(found['shortages'] > 0 and found['drop_places'] > 0 and result['operations']['failed_all'] > 0 and
         none['shortages'] == none['drop_places'] == calm['operations']['failed_all'] == 0,
         'the pools run out by the faults, and by nothing else', f'{found} {none}')


def parameters(tap, toy):
  def with_stack(**values):
    path = toy.fabric('toy.json', faults=[], stack=dict(name='toy', **values))
    return toy.result('--clock', 'virtual', path)[1]

  small, large, slow = with_stack(words=8), with_stack(words=180), with_stack(gap='2us')
  sent = [counters(result)['segments_sent'] / counters(result)['octets_sent'] for result in (small, large)]
  tap.ok(sent[0] > 4 * sent[1], 'frames with fewer words: more of them', sent)
  tap.ok(slow['time']['ended_ps'] > 3 * large['time']['ended_ps'], 'a gap between frames: slower',
         f"{slow['time']} {large['time']}")
  _, one = toy.result('--clock', 'virtual', toy.fabric('toy-edm.json', scheduler={'policy': 'toy'}))
  tap.ok(one['config']['scheduler']['policy'] == {'name': 'toy', 'stride': 1} and
         large['config']['stack'] == {'name': 'toy', 'words': 180, 'gap': '0'},
         'the effective configuration has all parameters',
         f"{one['config']['scheduler']} {large['config']['stack']}")
  for what, said in (({'stack': {'name': 'toy', 'words': 181}}, 'stack.words'),
                     ({'stack': {'name': 'toy', 'wrods': 8}}, 'stack.wrods'),
                     ({'switch': {'bridge': {'name': 'toy', 'places': 0}}}, 'switch.bridge.places'),
                     ({'faults': [{'class': 'exhaust', 'what': 'tickts', 'node': 'c0', 'from': '1us'}]},
                      'tickets')):
    process = toy.emu.run('--check', toy.fabric('toy.json', **what))
    tap.ok(process.returncode == 2 and said in process.stderr, f'refused: {json.dumps(what)}', process.stderr)


def schema(tap, toy):
  try:
    import jsonschema
  except ImportError:
    tap.skip('results fit their schema', 'python3-jsonschema is not installed')
    return
  rules = json.loads(read(ROOT, 'docs', 'result.schema.json'))
  validator = jsonschema.validators.validator_for(rules)(rules)
  for name in OWN:
    _, whole = toy.emu.result('--clock', 'virtual', toy.path(name))
    whole = json.loads(json.dumps(whole))
    errors = [error.message[:200] for error in validator.iter_errors(whole)]
    tap.ok(not errors, f'{name}: the result fits the schema', '\n'.join(errors))
    for key in OWN[name]:
      for part in (whole['result'].get('stack', {}).get('counters', {}),
                   whole['result'].get('bridge', {}).get('counters', {}),
                   whole['result'].get('scheduler', {})):
        if key in part:
          part[key], kept = 'many', part[key]
          tap.ok(not validator.is_valid(whole), f'{name}: the schema has {key}, and as a number')
          part[key] = kept


def telemetry(tap, toy, name, process_of):
  """Asks a run that stays after its report."""
  err = toy.path('err')
  with open(err, 'w+', encoding='utf-8') as said:
    process = subprocess.Popen(process_of, stdout=subprocess.DEVNULL, stderr=said)
  try:
    while process.poll() is None and not os.path.exists(toy.path('wall.json')):
      try:
        process.wait(0.1)
      except subprocess.TimeoutExpired:
        pass
    found = re.search(r'dpdk-telemetry\.py -f (\S+)', read(err))
    if not tap.ok(found, f'{name}: runs under the wall clock', read(err)):
      return
    reader, result = Reader(found[1]), json.loads(read(toy.path('wall.json')))['result']
    if name == 'toy.json':
      asked = counters({'stack': reader.get('node', 'c0')['stack'], 'bridge': reader.get('switch')})
    else:
      asked = counters({'scheduler': reader.get('scheduler')})
    reader.close()
    tap.ok(not has(asked, name) and not has(counters(result), name),
           f'{name}: its counters are in telemetry', asked)
    tap.ok(result['operations']['verified'] > 0, f'{name}: reads are verified', result['operations'])
  finally:
    process.send_signal(2)
    tap.ok(process.wait(WAIT) == 0, f'{name}: sound under the wall clock', read(err))


def wall(tap, toy):
  for name in OWN:
    record, capture, result = toy.path('rec'), toy.path('toy.pcapng'), toy.path('wall.json')
    for path in (capture, result):
      if os.path.exists(path):
        os.remove(path)
    shutil.rmtree(record, ignore_errors=True)
    telemetry(tap, toy, name, [toy.program['emu'], '--telemetry', '--linger', f'{WAIT}s', '--record', record,
                               '--capture', capture, '--json', result, toy.path(name)])
    with open(capture, 'rb') as file:
      frames = file.read().count(ETHER_TYPE)
    tap.ok(frames > 100 or name != 'toy.json', f'{name}: frames are captured', frames)
    process = toy.emu.run('--replay', record, toy.path(name))
    roles = [role for role in ('sw0', 'c0', 'c1', 'c2', 'c3', 'm0', 'm1')
             if not re.search(rf'^{role}: \d+ calls; [1-9]\d* outputs, [1-9]\d* octets identical',
                              process.stdout, re.M)]
    tap.ok(process.returncode == 0 and not roles, f'{name}: all roles repeat what is recorded',
           process.stdout + process.stderr)


def perf(tap, toy):
  write('set iters 40\nstart\nwait\nshow sched\n', toy.path('commands'))
  for name in OWN:
    process = run(toy.program['perf'], '--cmdline-file', toy.path('commands'), '--clock', 'virtual',
                  toy.fabric(name, faults=[]))
    lacks = [key for key in OWN[name] if not re.search(rf'^ *{key} +\d+$', process.stdout, re.M)]
    tap.ok(process.returncode == 0 and not lacks, f'{name}: memfab-perf shows its counters', process.stdout)


def chaos(tap, toy):
  for name, runs, pool in (('toy-chaos.json', 60, 'exhaust'), ('toy-edm-chaos.json', 25, 'exhaust')):
    process = run(toy.program['chaos'], '--runs', str(runs), '--out', toy.folder, toy.path(name))
    fired = {key: int(count) for key, count in re.findall(r'^(\w+) +(\d+) +\d+$', process.stdout, re.M)}
    tap.ok(process.returncode == 0 and fired.get('all', 0) >= 1000 and fired.get(pool, 0) > 0,
           f'{name}: nothing is wrong in {runs} runs with {fired.get("all")} faults', process.stdout)


def main(page, used):
  tap = Tap()
  with tempfile.TemporaryDirectory(prefix='tutorial-') as folder:
    to = os.path.join(folder, 'tree')
    copy_tree(to)
    if not apply(tap, read(page), to, folder):
      tap.done()
    changed = [name for name in changed_files(to)
               if os.path.basename(name) != 'meson.build' and name != 'lib/rooms']
    tap.ok(not changed, 'lib/rooms and meson.build change, and no other file that is there', changed)
    said = run(sys.executable, os.path.join(to, '.ci', 'check-rooms'))
    tap.ok(said.returncode == 0, 'the toys keep to the rule of rooms', said.stdout)
    if build(tap, to, used):
      toy = Toy(to, folder)
      for test in (virtual, parameters, schema, wall, perf, chaos):
        test(tap, toy)
  tap.done()


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, 'build'))
