#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the client library: alone, as a node of several processes, and what they refuse."""
import json
import os
import signal
import subprocess
import sys
import tempfile

ROOT, EMU, *EXAMPLES = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap, why

TAP = Tap()
FABRIC = os.path.join(ROOT, 'examples', 'client', 'fabric.json')
SPACES = os.path.join(ROOT, 'examples', 'client', 'spaces.json')
ARGS = {'chase': ['--number', '20000'], 'idle': ['--number', '1'],
        'kv': ['--number', '3000', '--threads', '3'], 'lock': ['--number', '500', '--threads', '3'],
        'log': ['--number', '2000', '--threads', '2'], 'table': ['--number', '1000', '--threads', '2'],
        'alloc': ['--number', '200']}
IN_SPACES = ('log', 'table', 'alloc')
SHARED = {'log': 'records 1200, each read once', 'table': 'none is missing'}
OVER_MEMIF = {'idle': '1'}  # it sleeps so many seconds
WAIT = 300  # seconds: the machine may be busy


def run(program, *args):
  return subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        timeout=WAIT, check=False)


def refusals(program, name):
  fabric = fabric_of(name)
  process = run(program, '--help')
  TAP.ok(process.returncode == 0 and process.stdout.startswith(f'usage: {name} '), f'{name} --help',
         why(process))
  wrong = {'no file': [], 'two files': [fabric, fabric], 'no such file': ['/no/such/file'],
           'no number': ['--number', '12x', fabric], 'no such node': ['--node', 'cn7', fabric],
           'no such target': ['--target', 'cn0', fabric], 'only nobody': ['--only', fabric],
           'no such option': ['--what', fabric]}
  if name in IN_SPACES:
    wrong['no address spaces'] = [FABRIC]
  if name in SHARED:
    wrong |= {'only without a file for the token': ['--only', '--node', 'cn0', fabric],
              'a file for the token, alone': ['--make', '/no/such/file', fabric],
              'made and joined': ['--make', 'a', '--join', 'b', fabric],
              'nobody to share with': ['--with', 'cn7', fabric],
              'too many threads': ['--threads', '65', '--number', '1', fabric]}
  else:
    wrong['an option of others'] = ['--make', 'a', fabric]
  for what, args in wrong.items():
    process = run(program, *args)
    lines = process.stderr.strip().split('\n')
    TAP.ok(process.returncode == 1 and len(lines) == 1 and lines[0] and not process.stdout,
           f'{name}: {what}', why(process))


def fabric_of(name):
  return SPACES if name in IN_SPACES else FABRIC


def write_fabric(folder, name):
  """Compute nodes, the switch and a memory node behind memif ports of their own."""
  ports, links = [], []
  compute = ['cn0', 'cn1'] if name in SHARED else ['cn0']
  memory = {'type': 'virtual', 'pages': {'4KiB': '2MiB'}} if name in IN_SPACES else {'size': '1MiB'}
  for number, node in enumerate([*compute, 'mn0']):
    socket = f'socket={folder}/{node}.sock,socket-abstract=no,id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{socket}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
    links += [{'node': node, 'carried': {'node': node, 'switch': f'sw-{node}'}}]
  config = {'ports': ports, 'links': links,
            'nodes': [*({'name': node, 'role': 'compute'} for node in compute),
                      {'name': 'mn0', 'role': 'memory', 'memory': memory}],
            'host': {'read_timeout': '60s', 'write_timeout': '60s'}}
  path = os.path.join(folder, 'fabric.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  return path


def end(process):
  process.send_signal(signal.SIGINT)
  try:
    process.wait(WAIT)
  except subprocess.TimeoutExpired:
    process.kill()
    process.wait()


def alone(program, name, _folder, path):
  number = OVER_MEMIF.get(name, '300')
  process = run(program, '--only', '--node', 'cn0', '--number', number, *ARGS[name][2:], path)
  TAP.ok(process.returncode == 0, f'{name} over memif', f'{why(process)}\n{process.stdout}')


def shared(program, name, folder, path):
  """Two processes, each a compute node; a file brings the token from one to the other."""
  ticket = os.path.join(folder, 'ticket')
  joins = subprocess.Popen([program, '--only', '--node', 'cn1', '--join', ticket, path],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
  try:
    number = '300' if name == 'log' else '150'
    process = run(program, '--only', '--node', 'cn0', '--make', ticket, '--number', number, *ARGS[name][2:],
                  path)
    said, error = joins.communicate(timeout=WAIT)
  finally:
    joins.kill()
    joins.wait()
  TAP.ok(process.returncode == 0 and SHARED[name] in process.stdout, f'{name} by two processes, over memif',
         f'{why(process)}\n{process.stdout}')
  TAP.ok(joins.returncode == 0 and said, f'{name}: the one that joins', f'{error}\n{said}')


def over_memif(program, name):
  """Switch and memory node are processes of memfab-emu."""
  with tempfile.TemporaryDirectory() as folder:
    path = write_fabric(folder, name)
    others = [subprocess.Popen([EMU, '--run', role, path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) for role in ('sw0', 'mn0')]
    try:
      (shared if name in SHARED else alone)(program, name, folder, path)
    finally:
      for other in others:
        end(other)


def main():
  for program in EXAMPLES:
    name = os.path.basename(program)
    process = run(program, *ARGS[name], fabric_of(name))
    if process.returncode != 0 and "DPDK's EAL" in process.stderr:
      TAP.skip(name, process.stderr.strip())
      continue
    TAP.ok(process.returncode == 0 and process.stdout, name, f'{why(process)}\n{process.stdout}')
    print(f'# {name}: {process.stdout.strip()}'.replace('\n', '\n# '))
    refusals(program, name)
    over_memif(program, name)


main()
TAP.done()
