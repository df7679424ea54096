# SPDX-License-Identifier: BSD-3-Clause
"""For the tests that run memfab-emu: starting it, reading its result, saying in TAP how it went."""
import json
import os
import subprocess
import sys
import tempfile


HANGS = 600  # seconds: a run that takes so long, on however busy a machine, does not end


class Tap:
  """Test Anything Protocol: a line a case, the plan at the end."""

  def __init__(self):
    self.count = 0
    self.failed = 0

  def ok(self, good, name, why=''):
    self.count += 1
    self.failed += not good
    print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
    for line in '' if good else str(why).splitlines():
      print(f'# {line}', flush=True)
    return good

  def skip(self, name, why):
    self.count += 1
    print(f'ok {self.count} - {name} # SKIP {why}', flush=True)

  def done(self):
    print(f'1..{self.count}')
    sys.exit(1 if self.failed else 0)


class Emu:
  """The program, and the folder with the examples."""

  def __init__(self, program, root):
    self.program = program
    self.root = root

  def example(self, name):
    return os.path.join(self.root, 'examples', name + '.json')

  def examples(self):
    files = os.listdir(os.path.join(self.root, 'examples'))
    return sorted(f[:-5] for f in files if f.endswith('.json'))

  def run(self, *args, timeout=HANGS):
    """The finished process; its output is text."""
    return subprocess.run([self.program, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, check=False)

  def result(self, *args, timeout=HANGS):
    """The finished process and what it wrote with --json, or None. Reals stay the text that they are."""
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, 'result.json')
      process = self.run('--json', path, *args, timeout=timeout)
      try:
        with open(path, encoding='utf-8') as file:
          text = file.read()
        return process, json.loads(text, parse_float=Real)
      except (OSError, ValueError):
        return process, None


def threads(process):
  """By thread what it is called and where in the kernel it waits; what hangs may tell its reason so."""
  found = {}
  for task in sorted(os.listdir(f'/proc/{process.pid}/task')):
    for name in ('comm', 'wchan', 'syscall', 'stack'):
      try:
        with open(f'/proc/{process.pid}/task/{task}/{name}', encoding='utf-8') as file:
          found.setdefault(task, []).append(' '.join(file.read().split()))
      except OSError:
        continue  # it has ended meanwhile, or this user may not read it
  return list(found.values())


class Real(float):
  """A number with the text that it was written as."""

  def __new__(cls, text):
    self = super().__new__(cls, text)
    self.text = text
    return self

  def __repr__(self):
    return self.text


def text_of(value):
  """A JSON value as text, reals as they were written, keys in their order."""
  if isinstance(value, dict):
    return '{' + ', '.join(f'{json.dumps(k)}: {text_of(v)}' for k, v in value.items()) + '}'
  if isinstance(value, list):
    return '[' + ', '.join(map(text_of, value)) + ']'
  return value.text if isinstance(value, Real) else json.dumps(value)


def differences(a, b, path=''):
  """Where two JSON values differ."""
  if isinstance(a, dict) and isinstance(b, dict):
    for key in sorted(a.keys() | b.keys()):
      yield from differences(a.get(key), b.get(key), f'{path}/{key}')
  elif text_of(a) != text_of(b):
    yield f'{path}: {text_of(a)[:80]} != {text_of(b)[:80]}'


# What a short run ends with that got too little CPU; timers of operations may end in it, too.
STARVED = ('nothing was measured', 'the drain of ', 'operations failed', 'lost its link')


def stood_still(result, but=()):
  """For how long the machine, or a role of the run, stood still at most, ps. @param but  roles left out"""
  seen = result['watchdog']
  return max([seen['paused_ps_max']] +
             [role['longest_ps_max'] for name, role in seen['roles'].items() if name not in but])


def timers_ran_out(said, result):
  """Whether a run that is not sound stood still for as long as the shortest of its timers, half a second."""
  return any(word in said for word in STARVED) and stood_still(result) > 4e11


def need_eal(tap, emu, name):
  """Ends the test, skipped, where EAL cannot be started; what else is wrong is a fault."""
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if process.returncode == 0 or any(end in process.stderr for end in STARVED):
    return
  if 'cannot start DPDK\'s EAL' in process.stderr:
    tap.skip(name, why(process)[:200].replace('\n', ': '))
  else:
    tap.ok(False, f'{name}: memfab-emu runs', why(process))
  tap.done()


def why(process):
  return f'exit {process.returncode}\n{process.stderr[-2000:]}'
