#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rivals' stacks by the program: 512 ports with each of them; what they take when idle; writes that are
lost; what is refused."""
import os
import resource
import subprocess
import sys
import tempfile

from emu import Emu, Tap, why
from messages import write

STACKS = ('ethernet', 'rocev2', 'tcp', 'dctcp', 'pfabric', 'pfc', 'ird', 'cxl', 'fastpass')
PORTS = 512
IDLE_SPACE, IDLE_RESIDENT = 2000 << 20, 100 << 20


def rack(stack):
  """All to all; Fastpass's arbiter has a port, too."""
  config = {'stack': stack, 'link': {'rate': '100G'},
            'clock': {'virtual': {'warmup': '0', 'duration': '8us'}},
            'nodes': [{'name': 'n', 'role': 'both', 'count': PORTS - (stack == 'fastpass')}],
            'workload': [{'mix': {'read': 2, 'write': 1, 'write_ack': 1}, 'size': 64, 'depth': 2,
                          'span': '4KiB'}]}
  if stack == 'pfc':  # a headroom for each port
    config['switch'] = {'bridge': {'name': 'pfc', 'buffer': '64MiB'}}
  return config


def scale(emu, tap, folder):
  for stack in STACKS:
    process, both = emu.result('--clock', 'virtual', write(folder, f'{stack}.json', rack(stack)))
    operations = both['result']['operations'] if both else {}
    tap.ok(process.returncode == 0 and operations.get('completed_all', 0) > 2 * PORTS and
           operations['mismatches'] == operations['failed_all'] == 0,
           f'{stack}: {PORTS} ports', why(process))


def idle(emu, tap, folder):
  """Of nodes that never talk a fabric has next to nothing: neither address space nor memory."""
  config = {'stack': 'rocev2', 'clock': {'virtual': {'warmup': '0', 'duration': '1us'}},
            'nodes': [{'name': 'n', 'role': 'both', 'count': PORTS, 'memory': {'size': '4KiB'}}]}
  path = write(folder, 'idle.json', config)
  # Which writes to all that is allocated, so that none of it stays untouched.
  env = {key: value for key, value in os.environ.items() if key != 'MALLOC_PERTURB_'}
  with subprocess.Popen([emu.program, '--clock', 'virtual', path], stdout=subprocess.DEVNULL, env=env,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (IDLE_SPACE, IDLE_SPACE))
                        ) as process:
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
  tap.ok(process.returncode == 0, f'{PORTS} idle ports take {IDLE_SPACE} octets of address space at most')
  tap.ok(usage.ru_maxrss * 1024 <= IDLE_RESIDENT, f'and {IDLE_RESIDENT} octets of memory',
         f'{usage.ru_maxrss} KiB')


def lost(emu, tap, folder):
  """Raw Ethernet into a small buffer: plain writes complete, and some never arrive."""
  config = {'stack': 'ethernet', 'link': {'rate': '100G'},
            'clock': {'virtual': {'warmup': '0', 'duration': '100us'}},
            'switch': {'bridge': {'name': 'fifo', 'buffer': '64KiB'}},
            'nodes': [{'name': 'c', 'role': 'compute', 'count': 8}, {'name': 'm', 'role': 'memory'}],
            'workload': [{'mix': {'write': 4, 'write_ack': 1, 'read': 4}, 'size': 4000, 'depth': 8,
                          'span': '64KiB'}]}
  process, both = emu.result('--clock', 'virtual', write(folder, 'lost.json', config))
  operations = both['result']['operations'] if both else {}
  tap.ok(operations.get('mismatches') == 0 and operations.get('unverified', 0) > 0,
         'a lost write is not wrong data', operations)
  tap.ok(operations.get('lost_writes', 0) > 0 and process.returncode == 1 and
         'never took effect' in process.stderr, 'but told, and not sound', why(process))
  config['workload'][0]['mix'] = {'write_ack': 1, 'read': 4}
  config['switch']['bridge']['buffer'] = '16MiB'
  process, both = emu.result('--clock', 'virtual', write(folder, 'kept.json', config))
  tap.ok(process.returncode == 0 and 'lost_writes' not in both['result']['operations'],
         'where nothing is lost nothing is told', why(process))


def main(program, root, sanitize='none'):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    scale(emu, tap, folder)
    if sanitize == 'none':
      idle(emu, tap, folder)
    else:
      tap.skip('what idle ports take', 'sanitizers take address space of their own')
    lost(emu, tap, folder)
  tap.done()


if __name__ == '__main__':
  main(*sys.argv[1:])
