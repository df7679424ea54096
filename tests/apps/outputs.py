#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files that all programs write: none over what is read, none twice, none half; and how signals end them."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from programs import Program, Tap, refused, why

TRACE = '0,1,0,1,16,64,0\n1,3,1,0,4096,-1,5\n'
VIRTUAL = ('--clock', 'virtual', '--duration', '20us')
OLD = 'an old result\n'


class Case:
  """Programs, in a folder of their own with files to read."""

  def __init__(self, tap, root, folder, paths):
    self.tap, self.root, self.folder = tap, root, folder
    for path in paths:
      program = Program(path)
      setattr(self, program.name.removeprefix('memfab-'), program)
    os.chdir(folder)

  def fabric(self, name='f.json'):
    """The quick start's, with a trace for its workload."""
    with open(os.path.join(self.root, 'examples', 'trace.json'), encoding='utf-8') as file:
      fabric = json.load(file)
    shutil.copy(os.path.join(self.root, 'examples', 'spark.csv'), 'spark.csv')
    with open(name, 'w', encoding='utf-8') as file:
      json.dump(fabric, file)
    return name

  def others(self):
    """Fabrics that name files of all kinds."""
    nodes = [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory'}]
    ports = [{'name': 'a', 'device': 'net_pcap0,rx_pcap=old.pcap,tx_pcap=new.pcap'},
             {'name': 'b', 'device': 'net_memif0,role=server,socket=s,socket-abstract=no'}]
    links = [{'node': 'c', 'carried': {'node': 'a', 'switch': 'b'}}, {'node': 'm'}]
    fabrics = {
      'sizes.json': {'workload': [{'size': {'dist': 'cdf', 'file': 'sizes'}}]},
      'keys.json': {'workload': [{'ycsb': 'trace', 'trace': 'keys', 'records': 100}]},
      'ports.json': {'ports': ports, 'links': links},
      'over.json': {'ports': [ports[0] | {'device': 'net_pcap0,tx_pcap=over.json'}, ports[1]],
                    'links': links},
    }
    for name, fabric in fabrics.items():
      write(name, json.dumps({'nodes': nodes, **fabric}))
    write('sizes', '0 0\n64 50\n4096 100\n')
    write('keys', '0,READ,1\n1,UPDATE,2\n')

  def fresh(self):
    """Only what is read, and old results."""
    for name in os.listdir('.'):
      (shutil.rmtree if os.path.isdir(name) and not os.path.islink(name) else os.unlink)(name)
    self.fabric()
    shutil.copy(os.path.join(self.root, 'examples', 'quickstart.json'), 'q.json')
    shutil.copy('q.json', 'chaos-7.json')
    write('t.csv', TRACE)
    self.others()
    write('commands', 'show config\n')
    for name in ('old', 'old.pcap'):
      write(name, OLD)
    os.link('f.json', 'hard')
    os.symlink('f.json', 'soft')
    os.mkdir('d')
    return listing()


def write(name, text):
  with open(name, 'w', encoding='utf-8') as file:
    file.write(text)


def read(name):
  with open(name, encoding='utf-8') as file:
    return file.read()


def listing():
  """What there is, by name: what is in it, or where it leads to."""
  found = {}
  for folder, folders, files in os.walk('.'):
    for name in files:
      path = os.path.join(folder, name)
      found[path] = os.readlink(path) if os.path.islink(path) else read(path)
    found.update((os.path.join(folder, name), None) for name in folders)
  return found


# What is refused: program, arguments, and both names that the line has.
CLASHES = [
  ('emu', [*VIRTUAL, '--json', 'q.json', 'q.json'], ['--json q.json', 'FABRIC q.json']),
  ('emu', [*VIRTUAL, '--json', './d/../f.json', 'f.json'], ['--json ./d/../f.json', 'FABRIC f.json']),
  ('emu', [*VIRTUAL, '--json', 'hard', 'f.json'], ['--json hard', 'FABRIC f.json']),
  ('emu', [*VIRTUAL, '--messages', 'soft', 'f.json'], ['--messages soft', 'FABRIC f.json']),
  ('emu', [*VIRTUAL, '--history', 'f.json,room=1MiB', 'f.json'], ['--history f.json', 'FABRIC f.json']),
  ('emu', [*VIRTUAL, '--json', 'spark.csv', 'f.json'], ['--json spark.csv', 'workload[0].trace spark.csv']),
  ('emu', [*VIRTUAL, '--json', 'a', '--history', 'a', 'q.json'], ['--json a', '--history a']),
  ('emu', [*VIRTUAL, '--json', 'a', '--messages', './a', 'q.json'], ['--json a', '--messages ./a']),
  ('emu', [*VIRTUAL, '--capture', 'a.pcap', '--capture', 'd/../a.pcap,dir=up', 'q.json'],
   ['--capture a.pcap', '--capture d/../a.pcap']),
  ('emu', [*VIRTUAL, '--capture', 'old.pcap', '--json', 'old.pcap', 'q.json'],
   ['--capture old.pcap', '--json old.pcap']),
  ('emu', ['--seeds', '2', '--clock', 'virtual', '--json', 'q.json', 'q.json'], ['--json', 'FABRIC']),
  ('emu', ['--record', 'd', '--json', 'd/cn0.rec', 'q.json'], ['--record d/cn0.rec', '--json d/cn0.rec']),
  ('emu', ['--record', 'new', '--json', 'new', 'q.json'], ['--record new', '--json new']),
  ('emu', [*VIRTUAL, '--json', 'sizes', 'sizes.json'], ['--json sizes', 'workload[0].size.file sizes']),
  ('emu', [*VIRTUAL, '--messages', 'keys', 'keys.json'], ['--messages keys', 'workload[0].trace keys']),
  ('emu', ['--check', '--json', 'old.pcap', 'ports.json'], ['--json old.pcap', 'ports[0].device old.pcap']),
  ('emu', ['--check', '--json', 'new.pcap', 'ports.json'], ['--json new.pcap', 'ports[0].device new.pcap']),
  ('emu', ['--check', '--json', 's', 'ports.json'], ['--json s', 'ports[1].device s']),
  ('emu', ['--check', 'over.json'], ['ports[0].device over.json', 'FABRIC over.json']),
  ('perf', ['read_lat', '--clock', 'virtual', '--out_json', 'sizes', 'sizes.json'],
   ['--out_json sizes', 'workload[0].size.file sizes']),
  ('doctor', ['--noise', '0', '--json', 'sizes', 'sizes.json'], ['--json sizes', 'workload[0].size.file']),
  ('emu', ['--check', '--json', 'q.json', 'q.json'], ['--json', 'FABRIC']),
  ('perf', ['read_lat', '--clock', 'virtual', '--out_json', 'q.json', 'q.json'], ['--out_json', 'FABRIC']),
  ('perf', ['read_lat', '--clock', 'virtual', '--hgrm', 'a', '--out_json', 'a', 'q.json'],
   ['--hgrm a', '--out_json a']),
  ('perf', ['read_lat', '--clock', 'virtual', '--history', 'q.json', 'q.json'], ['--history', 'FABRIC']),
  ('trace', ['convert', '--to', 'edm', '-o', 't.csv', 't.csv'], ['--output t.csv', 'TRACE t.csv']),
  ('trace', ['info', '--json', 't.csv', 't.csv'], ['--json t.csv', 'TRACE t.csv']),
  ('trace', ['gen', '-o', 'f.json', 'f.json'], ['--output f.json', 'FABRIC f.json']),
  ('trace', ['gen', '-o', 'spark.csv', 'f.json'], ['--output spark.csv', 'workload[0].trace spark.csv']),
  ('chaos', ['--runs', '3', '--seed', '6', 'chaos-7.json'], ['a case of --out ./chaos-7.json', 'FABRIC']),
  ('doctor', ['--noise', '0', '--json', 'q.json', 'q.json'], ['--json q.json', 'FABRIC q.json']),
]

# Program, arguments, the option that names a file, its name.
WRITERS = [
  ('emu', [*VIRTUAL, 'q.json'], '--json', 'old'),
  ('emu', [*VIRTUAL, '--seeds', '2', 'q.json'], '--json', 'old'),
  ('emu', [*VIRTUAL, 'q.json'], '--messages', 'old'),
  ('emu', [*VIRTUAL, 'q.json'], '--history', 'old'),
  ('emu', [*VIRTUAL, 'q.json'], '--capture', 'old.pcap'),
  ('emu', [*VIRTUAL, 'q.json'], '--capture', 'old.pcapng'),
  ('perf', ['read_lat', '--clock', 'virtual', '-n', '1000', 'q.json'], '--out_json', 'old'),
  ('perf', ['mixed', '--clock', 'virtual', '-n', '1000', 'q.json'], '--hgrm', 'old'),
  ('perf', ['read_lat', '--clock', 'virtual', '-n', '1000', 'q.json'], '--history', 'old'),
  ('trace', ['gen', '--nodes', '4', '--load', '0.5', '--messages', '2000'], '-o', 'old'),
  ('trace', ['info', 'spark.csv'], '--json', 'old'),
  ('doctor', ['--noise', '0'], '--json', 'old'),
]


def clashes(case):
  for name, args, words in CLASHES:
    before = case.fresh()
    process = getattr(case, name).run(*args)
    shown = f'{name} {" ".join(args)}'
    case.tap.ok(refused(process, 'is the same file as', *words), f'{shown}: refused', why(process))
    case.tap.ok(listing() == before, f'{shown}: all is as it was')
  for args in ([], ['--json', '/dev/stdout'], ['--json', '/dev/null', '--history', '/dev/null']):
    case.fresh()
    process = case.emu.run(*VIRTUAL, *args, 'q.json')
    case.tap.ok(process.returncode == 0, f'emu {" ".join(args)}: no clash', why(process))
  before = case.fresh()
  with open('t.csv', encoding='utf-8') as file:
    process = case.trace.run('convert', '--to', 'edm', '-o', 't.csv', '-', stdin=file)
  case.tap.ok(refused(process, 'is the same file as', '--output t.csv', 'TRACE -')
              and listing() == before, 'a trace from standard input over itself', why(process))
  for name, place, words in (('d', 'pipe', '--record pipe: is no folder'),
                             ('d', 'd', '--record d/cn0.rec: is no regular file')):
    case.fresh()
    os.mkfifo('pipe')
    os.mkfifo(f'{name}/cn0.rec')
    process = case.emu.run('--record', place, 'q.json', timeout=600)
    case.tap.ok(refused(process, words), f'--record {place}: refused', why(process))
  before = case.fresh()
  with open('t.csv', 'a', encoding='utf-8') as file:
    process = case.trace.run('convert', '--to', 'memfab', 't.csv', stdout=file)
  case.tap.ok(process.returncode == 2 and 'standard output: is the same file as TRACE' in process.stderr
              and listing() == before, 'a trace onto the end of itself', why(process))


def whole(case, name, args, option, target):
  """A good run replaces the old file, and leaves nothing beside it."""
  before = case.fresh()
  write(target, OLD)
  os.chmod(target, 0o640)
  process = getattr(case, name).run(option, target, *args)
  shown = f'{name} {option} {target}'
  case.tap.ok(process.returncode in (0, 1) and process.stderr == '' or name == 'doctor', f'{shown}: runs',
              why(process))
  with open(target, 'rb') as file:
    case.tap.ok(file.read() != OLD.encode(), f'{shown}: is new')
  case.tap.ok(os.stat(target).st_mode & 0o777 == 0o640, f'{shown}: with the old rights')
  case.tap.ok(set(os.listdir('.')) == {n[2:] for n in before if '/' not in n[2:]} | {target},
              f'{shown}: and nothing else', os.listdir('.'))


def short(case, name, args, option, target):
  """A file that becomes too long, and a device that is full: said, exit 1, the old one stays."""
  case.fresh()
  write(target, OLD)
  before = os.listdir('.')
  shown = f'{name} {option} {target}'
  process = getattr(case, name).run(
    option, target, *args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)))
  said = 'the result' if '--seeds' in args else target  # each seed has a file of its own
  case.tap.ok(process.returncode == 1 and f'{said}: File too large' in process.stderr,
              f'{shown}: ulimit -f', why(process))
  case.tap.ok(read(target) == OLD and os.listdir('.') == before, f'{shown}: the old one stays',
              os.listdir('.'))
  full = 'full' + os.path.splitext(target)[1]
  os.symlink('/dev/full', full)
  process = getattr(case, name).run(option, full, *args)
  case.tap.ok(process.returncode == 1 and f'{full}: No space left' in process.stderr,
              f'{shown}: /dev/full', why(process))


def full_disk(case):
  """A file system without room, in a name space of its own."""
  case.fresh()
  script = ('mount -t tmpfs -o size=16k none d && echo old >d/old && "$@" --json d/old q.json; '
            'echo "$?" && ls d && cat d/old')
  process = subprocess.run(['unshare', '-rm', 'sh', '-c', script, 'sh', case.emu.path, *VIRTUAL],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
  if 'unshare' in process.stderr or 'mount' in process.stderr:
    case.tap.skip('a disk that is full', process.stderr.strip().splitlines()[0])
    return
  case.tap.ok(process.stdout.endswith('\n1\nold\nold\n') and 'd/old: No space left' in process.stderr,
              'a disk that is full: said, and the old one stays', why(process))


def inputs(case):
  """What is no file of its kind is refused, and nothing is read without end."""
  case.fresh()
  for name, args in (('emu', []), ('emu', ['--check']), ('doctor', []), ('chaos', []), ('chaos', ['--case']),
                     ('chaos', ['--history']), ('trace', ['info']), ('trace', ['convert', '--to', 'edm']),
                     ('trace', ['gen'])):
    for path, words in (('/dev/zero', ''), ('/dev/full', ''), ('d', 'd: Is a directory'),
                        ('none', 'none: No such file')):
      process = getattr(case, name).run(*args, path, timeout=600)
      case.tap.ok(process.returncode == 2 and process.stdout == '' and process.stderr.count('\n') == 1
                  and path in process.stderr and words in process.stderr,
                  f'{name} {" ".join(args)} {path}: refused', why(process))


def streams(case):
  """Standard output that takes nothing is told, whatever is asked for."""
  for name in ('emu', 'perf', 'trace', 'chaos', 'doctor'):
    for option in ('--help', '--version'):
      with open('/dev/full', 'w', encoding='utf-8') as full:
        process = getattr(case, name).run(option, stdout=full)
      case.tap.ok(process.returncode == 1 and 'standard output: No space left' in process.stderr,
                  f'{name} {option} >/dev/full', why(process))
  case.fresh()
  for name, args in (('emu', [*VIRTUAL, 'q.json']), ('emu', ['--check', 'q.json']),
                     ('emu', ['--print-config', 'q.json']), ('emu', ['--print-graph', 'q.json']),
                     ('chaos', ['--print', 'q.json']),
                     ('chaos', ['--runs', '1', 'q.json']), ('doctor', ['--noise', '0', 'q.json']),
                     ('perf', ['read_lat', '--clock', 'virtual', 'q.json']), ('trace', ['info', 't.csv']),
                     ('trace', ['convert', '--to', 'memfab', 't.csv'])):
    with open('/dev/full', 'w', encoding='utf-8') as full:
      process = getattr(case, name).run(*args, stdout=full)
    case.tap.ok(process.returncode == 1 and 'standard output: No space left' in process.stderr,
                f'{name} {" ".join(args)} >/dev/full', why(process))
  process = case.emu.run(*VIRTUAL, '--json', '-', 'q.json')
  text, _, end = process.stdout.partition('\n{\n')
  case.tap.ok('Operations' in text and 'result' in json.loads('{' + end), '--json -: behind the report')


def started(case, args, said, **more):
  """A program that runs for long, once it writes beside its result's place."""
  process = subprocess.Popen([case.emu.path, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, **more)
  until = time.monotonic() + 60
  while not any(said in name for name in os.listdir('.')) and time.monotonic() < until:
    time.sleep(0.01)
  time.sleep(0.3)
  return process


def signals(case):
  signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may have used nohup, which is inherited
  long = ('--clock', 'virtual', '--duration', '1000s', '--json', 'old', 'q.json')
  for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    case.fresh()
    process = started(case, long, 'old.part')
    process.send_signal(number)
    if number == signal.SIGHUP:  # a terminal that is closed says so more than once
      process.send_signal(number)
    out, err = process.communicate(timeout=600)
    case.tap.ok(process.returncode == 0 and 'Operations' in out, f'{number.name}: ends with the report',
                f'exit {process.returncode}\n{err}')
    case.tap.ok(json.loads(read('old'))['run']['interrupted'] is True, f'{number.name}: and with the result')
  case.fresh()
  process = started(case, ('--clock', 'virtual', '--duration', '5ms', '--json', 'old', 'q.json'), 'old.part',
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
  process.send_signal(signal.SIGHUP)
  process.communicate(timeout=600)
  case.tap.ok(json.loads(read('old'))['run']['interrupted'] is False, 'SIGHUP that is ignored stays ignored')
  case.fresh()
  before = os.listdir('.')
  process = started(case, long, 'old.part')
  process.send_signal(signal.SIGSTOP)  # so that both are there at once
  process.send_signal(signal.SIGTERM)
  process.send_signal(signal.SIGCONT)
  os.kill(process.pid, signal.SIGTERM)
  time.sleep(0.05)
  os.kill(process.pid, signal.SIGTERM)
  process.communicate(timeout=600)
  case.tap.ok(process.returncode in (0, -signal.SIGTERM) and os.listdir('.') == before,
              'a second SIGTERM: nothing half is left', f'{process.returncode} {os.listdir(".")}')


def main(root, *paths):
  tap = Tap()
  with tempfile.TemporaryDirectory() as folder:
    case = Case(tap, os.path.abspath(root), folder, paths)
    clashes(case)
    for writer in WRITERS:
      whole(case, *writer)
      short(case, *writer)
    full_disk(case)
    inputs(case)
    streams(case)
    signals(case)
    os.chdir('/')
  tap.done()


main(*sys.argv[1:])
