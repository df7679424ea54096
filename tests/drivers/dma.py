#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dma_memfab: by dpdk-test's dmadev_autotest, by a program of ours, and with bad arguments."""
import json
import os
import re
import subprocess
import sys
import tempfile

DRIVER, PROGRAM, SPACE, BOTH, LEFT_OUT, NOT_STOCK, EMU, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap
from parts import Group, memif, write
from stock import loadable, why_not

TAP = Tap()
# The stock test gives a device one second of the wall clock. A busy machine may not give it to us: then the
# test is run again. Completions with an error, or wrong octets, are never tried again.
TRIES = 3
LATE = re.compile(r'Error with rte_dma_completed .* dma_err = 0$', re.MULTILINE)
DRIVER = loadable(DRIVER)
FABRIC = {'memory': {'size': '2MiB'}, 'nodes': [{'name': 'cn0', 'role': 'compute'},
                                                {'name': 'mn', 'role': 'memory', 'count': 2}]}


def options(number, *vdevs, service=False):
  """@param service  a service lcore turns the fabric, on the CPU of the program's thread"""
  cpu = min(os.sched_getaffinity(0))
  args = ['--no-huge', '-m', '512', '--no-shconf', '--no-pci', '--no-telemetry', '--file-prefix',
          f'dma-memfab-{os.getpid()}-{number}', '--lcores']
  args += [f'(0,1)@{cpu}', '-S', '1'] if service else [f'0@{cpu}']
  for vdev in vdevs:
    args += ['--vdev', vdev]
  return args


def run(program, *args, env=None):
  return subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        timeout=600, check=False, env={**os.environ, **(env or {})})


def autotest(path, number, what, service=False):
  name = 'dmadev_autotest'
  reason = why_not('dpdk-test', DRIVER, NOT_STOCK)
  if reason:
    return TAP.skip(what, reason)
  for again in range(TRIES):
    process = run('dpdk-test', *options(number + 100 * again, f'dma_memfab0,fabric={path}', service=service),
                  '-d', DRIVER, env={'DPDK_TEST': name})
    if not LATE.search(process.stdout + process.stderr):
      break
  lines = [line for line in process.stdout.replace('\r', '\n').split('\n') if 'Errors: 0' not in line]
  text = '\n'.join(lines[-40:]) + process.stderr[-1000:]
  own = '\n'.join(lines).split('[dma_memfab0]')[-1].split('### Test')[0]
  TAP.ok(process.returncode == 0 and 'Test OK' in process.stdout, what, text)
  for part in ('copy', 'burst capacity', 'error handling', 'fill'):
    TAP.ok(f'Running {part} Tests' in own, f'{what} runs its {part} tests', own)
  return None


def program(path, what='a program', more=''):
  """It has the driver in it."""
  device = f'dma_memfab0,fabric={path},node=cn0,target=mn1,window=1048576{more}'
  its_cases(what, run(PROGRAM, *options(1, device)))


def its_cases(what, process):
  lines = process.stdout.split('\n')
  for line in lines:
    if line.startswith(('ok ', 'not ok ')):
      TAP.ok(line.startswith('ok '), f"{what}: {line.split(' - ', 1)[1]}", process.stderr[-500:])
  plan = f'1..{sum(line.startswith(("ok ", "not ok ")) for line in lines)}'
  if '1..0 # SKIP EAL does not start' in lines:
    return TAP.skip(what, 'EAL does not start')
  return TAP.ok(plan in lines and process.returncode == 0, f'{what} comes to its end',
                f'exit {process.returncode}\n{process.stderr[-1000:]}')


def with_ports(path):
  """Ports at both nodes between which the device copies."""
  vdevs = [f'net_memfab{i},fabric={path},node={node}' for i, node in enumerate(('cn0', 'mn0'))]
  its_cases('ports and DMA', run(BOTH, *options(30, *vdevs, f'dma_memfab0,fabric={path},node=cn0')))


def in_space(folder):
  """The device is an address space, which the program has made at another node."""
  config = {'nodes': [{'name': 'cn', 'role': 'compute', 'count': 2},
                      {'name': 'mn', 'role': 'memory',
                       'memory': {'type': 'virtual', 'pages': {'4KiB': '4MiB'}}}]}
  path = write(folder, 'space.json', config)
  its_cases('an address space', run(SPACE, path, folder, *options(33)))
  without_space(path)


def without_space(path):
  process = run(PROGRAM, *options(34, f'dma_memfab0,fabric={path}'))
  TAP.ok('has address spaces: space=' in process.stderr, 'spaces, and none is named: refused',
         process.stderr[-1000:])


def only(folder):
  """The device's node alone: switch and memory are in another process"""
  what = 'a node of several processes'
  ports, links = memif('dma-only')
  config = {**FABRIC, 'ports': ports[:2],
            'links': [{'node': 'cn0', 'carried': links['cn']}, {'node': 'mn0'}, {'node': 'mn1'}]}
  path, group = write(folder, 'only.json', config), Group(Emu(EMU, ROOT), folder)
  group.start('sw0,mn0,mn1', path)
  try:
    program(path, what, ',only=1')
    status = group.end()
    TAP.ok(all(code == 0 for code in status.values()), f'{what}: the others end with it',
           group.all_said(status))
  finally:
    for role in group.running:
      group.kill(role)


def unclosed(folder):
  """A program that ends EAL with the device open: its bus removes it, with the memif behind it in its hand"""
  what = 'a device that EAL closes'
  reason = why_not('dpdk-test', DRIVER, NOT_STOCK)
  if reason:
    return TAP.skip(what, reason)
  device = f'dma_memfab0,fabric={os.path.join(folder, "only.json")},node=cn0,only=1'
  process = run('dpdk-test', *options(32, device), '-d', DRIVER, env={'DPDK_TEST': 'version_autotest'})
  return TAP.ok(process.returncode == 0 and 'Test OK' in process.stdout, what,
                f'exit {process.returncode}\n{process.stderr[-500:]}')


def refused(path):
  for number, (args, said) in enumerate({
      '': 'fabric=', 'fabric=/no/such.json': '/no/such.json', f'fabric={path},node=nobody': 'nobody',
      f'fabric={path},node=mn0': 'mn0', f'fabric={path},target=cn0': 'cn0', f'fabric={path},what=1': 'what',
      f'fabric={path},window=0': 'window', f'fabric={path},window=1k': 'window',
      f'fabric={path},window=9999999': '2097152', f'fabric={path},workload=2': 'workload',
      f'fabric={path},only=1': 'node=', f'fabric={path},space=/no/such': '/no/such',
      f'fabric={path},space=/no/such,window=4096': 'window=',
      f'fabric={path},fabric={path}': 'fabric'}.items()):
    process = run(PROGRAM, *options(2 + number, 'dma_memfab0' + (',' + args if args else '')))
    lines = [line for line in process.stderr.split('\n') if line.startswith('dma_memfab0: ')]
    TAP.ok(len(lines) == 1 and said in lines[0], f'{args.replace(path, "FILE")}: refused',
           process.stderr[-1000:])


def main():
  if LEFT_OUT:
    return TAP.skip('dma_memfab', LEFT_OUT)
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'fabric.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(FABRIC, file)
    autotest(path, 0, 'dmadev_autotest')
    autotest(path, 31, 'dmadev_autotest, a service lcore', service=True)
    program(path)
    with_ports(path)
    in_space(folder)
    only(folder)
    unclosed(folder)
    refused(path)
  return None


main()
TAP.done()
