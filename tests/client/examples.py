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
ARGS = {'chase': ['--number', '20000'], 'idle': ['--number', '1'],
        'kv': ['--number', '3000', '--threads', '3'], 'lock': ['--number', '500', '--threads', '3']}
OVER_MEMIF = {'idle': '1'}  # it sleeps so many seconds
WAIT = 300  # seconds: the machine may be busy


def run(program, *args):
  return subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        timeout=WAIT, check=False)


def refusals(program, name):
  process = run(program, '--help')
  TAP.ok(process.returncode == 0 and process.stdout.startswith(f'usage: {name} '), f'{name} --help',
         why(process))
  for what, args in {'no file': [], 'two files': [FABRIC, FABRIC], 'no such file': ['/no/such/file'],
                     'no number': ['--number', '12x', FABRIC], 'no such node': ['--node', 'cn7', FABRIC],
                     'no such target': ['--target', 'cn0', FABRIC], 'only nobody': ['--only', FABRIC],
                     'no such option': ['--what', FABRIC]}.items():
    process = run(program, *args)
    lines = process.stderr.strip().split('\n')
    TAP.ok(process.returncode == 1 and len(lines) == 1 and lines[0] and not process.stdout,
           f'{name}: {what}', why(process))


def write_fabric(folder):
  """A compute node, the switch and a memory node behind memif ports of their own."""
  ports, links = [], []
  for number, node in enumerate(('cn0', 'mn0')):
    socket = f'socket={folder}/{node}.sock,socket-abstract=no,id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{socket}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
    links += [{'node': node, 'carried': {'node': node, 'switch': f'sw-{node}'}}]
  config = {'ports': ports, 'links': links, 'memory': {'size': '1MiB'},
            'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory'}],
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


def over_memif(program, name):
  """Switch and memory node are processes of memfab-emu."""
  with tempfile.TemporaryDirectory() as folder:
    path = write_fabric(folder)
    others = [subprocess.Popen([EMU, '--run', role, path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) for role in ('sw0', 'mn0')]
    try:
      number = OVER_MEMIF.get(name, '300')
      process = run(program, '--only', '--node', 'cn0', '--number', number, *ARGS[name][2:], path)
      TAP.ok(process.returncode == 0, f'{name} over memif', f'{why(process)}\n{process.stdout}')
    finally:
      for other in others:
        end(other)


def main():
  for program in EXAMPLES:
    name = os.path.basename(program)
    process = run(program, *ARGS[name], FABRIC)
    if process.returncode != 0 and "DPDK's EAL" in process.stderr:
      TAP.skip(name, process.stderr.strip())
      continue
    TAP.ok(process.returncode == 0 and process.stdout, name, f'{why(process)}\n{process.stdout}')
    print(f'# {name}: {process.stdout.strip()}'.replace('\n', '\n# '))
    refusals(program, name)
    over_memif(program, name)


main()
TAP.done()
