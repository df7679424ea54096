#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report with files, folders and streams that are not as it would like them: a line, no traceback."""
import copy
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(sys.argv[4])
sys.path[:0] = [os.path.join(ROOT, 'apps', 'report'), os.path.join(ROOT, 'tests', 'fabric')]

from emu import Emu, Tap, why  # noqa: E402
from memfab_report.cli import guarded  # noqa: E402

TAP = Tap()
MUTATIONS = 12
ODD = (None, [], {}, '', 'x', -1, 0, 1e308, 2 ** 63, '\ud800', [[]], {'count': 1}, True)


def report(program, *args, shell=None, timeout=600, **more):
  command = [program, *args]
  if shell:
    command = ['sh', '-c', shell, 'sh', *command]
  more = {'stdout': subprocess.PIPE, **more}
  return subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                        timeout=timeout, check=False, **more)


def said(process, status, *words):
  """One line, with these words, and this exit status."""
  return (process.returncode == status and process.stderr.startswith('memfab-report: ')
          and process.stderr.count('\n') == 1 and all(word in process.stderr for word in words))


def write(name, text):
  with open(name, 'w', encoding='utf-8') as file:
    file.write(text)
  return name


def faulty(program, good):
  """What is read is bounded, and refused with its name."""
  os.mkdir('folder')
  with open('garbage', 'wb') as file:
    file.write(random.Random(1).randbytes(5000))
  with open('huge', 'wb') as file:
    file.truncate(300 << 20)
  number = good.replace('"completed"', '"completed": %s, "x"', 1)
  files = {
    '/dev/zero': 'more than 256 MiB', '/dev/full': 'more than 256 MiB', 'huge': 'more than 256 MiB',
    'folder': 'Is a directory', 'none': 'No such file', 'garbage': 'not JSON', write('empty', ''): 'not JSON',
    write('deep', '[' * 100000): 'not JSON', write('deeper', '{"a":' * 900 + '1' + '}' * 900): 'not JSON',
    write('nan', number % 'NaN'): 'NaN is no number', write('infinite', number % '-Infinity'): 'no number',
    write('large', number % '1e999'): '1e999 is no number',
    write('long', number % ('9' * 5000)): 'is no number', write('wide', number % 2 ** 64): 'is no number',
    write('list', '[1, 2]'): 'neither a result', write('text', '"x"'): 'neither a result',
    write('cut', good[:len(good) // 2]): 'not JSON',
  }
  for name, words in files.items():
    process = report(program, 'show', name, '-o', 'made')
    TAP.ok(said(process, 2, name, words), f'show {name}: {words}', why(process))
    if name in ('/dev/full', 'nan', 'list'):
      process = report(program, 'merge', name, '-o', 'all.json')
      TAP.ok(said(process, 2, name), f'merge {name}: a line', why(process))
  TAP.ok(not os.path.exists('made'), 'nothing was made')
  named = json.loads(good)
  named['result']['config']['name'] = '\ud800'
  process = report(program, 'show', write('half', json.dumps(named)), '-o', 'half-page')
  TAP.ok(process.returncode == 0 and process.stderr == '', 'half of a surrogate pair', why(process))


def places(value, path=()):
  """Of all values in it."""
  yield path
  inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
  for key, one in inside:
    yield from places(one, (*path, key))


def mutated(whole, draw):
  """With one value gone or another one."""
  made, path = copy.deepcopy(whole), draw.choice(list(places(whole))[1:])
  at = made
  for key in path[:-1]:
    at = at[key]
  if draw.random() < 0.3:
    del at[path[-1]]
  else:
    at[path[-1]] = draw.choice(ODD)
  return made, path


def pruned(value):
  """Two entries of a list are enough."""
  if isinstance(value, dict):
    return {key: pruned(one) for key, one in value.items() if key != 'config'}
  return [pruned(one) for one in value[:2]] if isinstance(value, list) else value


def misshapen(results):
  """Any value of a result may be another: a page, or a line."""
  seed = random.randrange(1 << 30)
  draw = random.Random(seed)
  out, err = os.dup(1), os.dup(2)
  for what, text in results.items():
    whole, wrong, status = {**pruned(json.loads(text))}, [], set()
    for node in (whole, whole.get('result', {}), *whole.get('runs', ())):
      if isinstance(node, dict) and ('time' in node or 'bandwidth' in node):
        node['config'] = {}
    for _ in range(MUTATIONS):
      made, path = mutated(whole, draw)
      write('mutated.json', json.dumps(made))
      nowhere = os.open(os.devnull, os.O_WRONLY)
      os.dup2(nowhere, 1)
      os.dup2(nowhere, 2)
      try:
        status.add(guarded(['show', 'mutated.json', '-o', 'mutated'], 'memfab-report'))
      except Exception as error:  # pylint: disable=broad-except
        wrong.append(f'{path}: {type(error).__name__}: {error}')
      finally:
        sys.stdout.flush()
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(nowhere)
    TAP.ok(not wrong and status <= {0, 2}, f'{what}, {MUTATIONS} times with another value',
           f'seed {seed}: {status} {wrong}')


def streams(program):
  for args in (['show', 'good.json', '-o', 'page'], ['--help']):
    shown = ' '.join(args)
    for where, shell, error in (('/dev/full', '"$@" >/dev/full', 'No space left'),
                                ('a stream that is closed', '"$@" >&-', 'Bad file descriptor')):
      process = report(program, *args, shell=shell)
      TAP.ok(process.returncode == 1 and 'Traceback' not in process.stderr
             and process.stderr.endswith('\n') and f'standard output: {error}' in process.stderr,
             f'{shown} to {where}', why(process))
    unread, pipe = os.pipe()
    os.close(unread)
    process = report(program, *args, stdout=pipe)
    os.close(pipe)
    TAP.ok(said(process, 1, 'standard output: Broken pipe'), f'{shown} that nobody reads', why(process))
  process = report(program, 'show', 'none', shell='"$@" 2>&-')
  TAP.ok(process.returncode == 2, 'standard error is closed', why(process))


def options(program):
  for args in (['show', 'good.json', '-o', 'a', '-o', 'b'], ['figures', '--jobs', '1', '--jobs', '2'],
               ['figures', '--quick', '--size', 'tiny'], ['figures', '--size', 'tiny', '--size', 'quick'],
               ['figures', '--shard', '1/2', '--shard', '2/2'], ['figures', '--emu', 'x', '--emu', 'y'],
               ['figures', '--timeout', '1', '--timeout', '2'], ['figures', '-o', 'a', '-o', 'a'],
               ['figures', '--only', '5', '--only', '6'], ['merge', 'a', '-o', 'x', '-o', 'y']):
    process = report(program, *args)
    TAP.ok(said(process, 2, 'is given twice'), f'{" ".join(args)}: twice', why(process))
  for args in (['show', 'good.json', '-o', '--jobs'], ['figures', '-o', '--quick'],
               ['figures', '--emu', '--quick'], ['merge', 'good.json', '-o', '--only']):
    process = report(program, *args)
    TAP.ok(said(process, 2, 'expected one argument'), f'{" ".join(args)}: swallows nothing', why(process))
  for args in (['show', 'good.json', '-o', ''], ['figures', '-o', ''], ['merge', 'good.json', '-o', '']):
    process = report(program, *args)
    TAP.ok(said(process, 2, 'is empty'), f'{" ".join(args)}: empty', why(process))


def outputs(program, good):
  """None over what is read; an old one stays until the new one is whole."""
  os.mkdir('own')
  os.symlink('own', 'link')
  write('own/show.json', good)
  for args in (['show', 'own/show.json', '-o', 'own'], ['show', 'own/show.json', '-o', 'link'],
               ['merge', 'own/show.json', '-o', 'link/show.json'], ['merge', 'good.json', '-o', 'good.json']):
    process = report(program, *args)
    TAP.ok(said(process, 2, 'is the same file as'), f'{" ".join(args)}: refused', why(process))
  with open('own/show.json', encoding='utf-8') as file:
    TAP.ok(file.read() == good and os.listdir('own') == ['show.json'], 'and all is as it was')
  os.mkdir('old')
  for name in ('show.json', 'show.csv', 'show.html'):
    write(f'old/{name}', 'old')
  process = report(program, 'show', 'good.json', '-o', 'old',
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
  TAP.ok(said(process, 2, 'old/show.json: File too large'), 'ulimit -f', why(process))
  with open('old/show.json', encoding='utf-8') as file:
    TAP.ok(file.read() == 'old' and len(os.listdir('old')) == 3, 'the old one stays', os.listdir('old'))
  os.chmod('old/show.csv', 0o640)
  process = report(program, 'show', 'good.json', '-o', 'old')
  TAP.ok(process.returncode == 0 and sorted(os.listdir('old')) == ['show.csv', 'show.html', 'show.json']
         and os.stat('old/show.csv').st_mode & 0o777 == 0o640, 'and is replaced, with its rights',
         why(process))


def hang_up(program, emu):
  """A terminal that is closed ends it as Ctrl-C does, with the page of what was measured."""
  signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may have used nohup, which is inherited
  process = subprocess.Popen([program, 'figures', '--size', 'tiny', '--jobs', '1', '--emu', emu, '-o',
                              'hung'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
  until = time.monotonic() + 60
  while time.monotonic() < until and not (os.path.isdir('hung/runs') and os.listdir('hung/runs')):
    time.sleep(0.02)
  process.send_signal(signal.SIGHUP)
  out, err = process.communicate(timeout=600)
  TAP.ok(process.returncode == 130 and 'Traceback' not in err and os.path.exists('hung/figures.html'),
         'SIGHUP', f'exit {process.returncode}\n{out}\n{err}')


def main(program, emu, perf):
  run = Emu(emu, ROOT)
  with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run.run('--clock', 'virtual', '--duration', '20us', '--json', 'good.json', run.example('quickstart'))
    Emu(perf, ROOT).run('read_lat', '--clock', 'virtual', '-n', '20', '-s', '64', '--out_json', 'perf.json',
                        run.example('quickstart'))
    with open('good.json', encoding='utf-8') as one, open('perf.json', encoding='utf-8') as other:
      good, measured = one.read(), other.read()
    faulty(program, good)
    misshapen({'memfab-emu': good, 'memfab-perf': measured})
    streams(program)
    options(program)
    outputs(program, good)
    hang_up(program, emu)
    os.chdir('/')
  TAP.done()


main(*(os.path.abspath(path) for path in sys.argv[1:4]))
