#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `make lint` says of the layout of lib/: nothing of this tree, and of each violation that is planted in
a copy of it the file and the line. Hot kinds stand in the list of systems, and engines name none.

    rooms.py ROOT CC
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))
from emu import Tap

# A file, the include line that is put in front of it, and what is said of that.
PLANTED = (
  ('an include upwards', 'lib/pcs/mux.c', 'wall/wall.h', 'pcs includes wall, which is not below it'),
  ('an include of the same floor', 'lib/pcs/mux.c', 'net/mf_packet.h',
   'pcs includes net, which is not below it'),
  ('a private header', 'lib/workload/client.c', 'pcs/mux.h', '"pcs/mux.h" is private to pcs'),
  ('an engine that names a system', 'lib/virtual/nodes.c', 'systems/tcp/tcp.h',
   'virtual includes systems/tcp: only systems knows a system'),
  ('a system that names another', 'lib/systems/tcp/tcp.c', 'systems/rdma/roce.h',
   'systems/tcp includes systems/rdma, which is not below it'),
  ('a system that names EDM', 'lib/systems/tcp/tcp.c', 'systems/edm/proto/mf_proto.h',
   'systems/tcp includes systems/edm/proto: only systems knows a system'),
  ('an engine that names the other', 'lib/virtual/nodes.c', 'wall/wall.h',
   'virtual includes wall, which is not below it'),
  ('a header without its room', 'lib/virtual/nodes.c', 'wire.h', '"wire.h" names no room'),
)


# The same of a line of code.
NAMED = (
  ('an engine that names a function of EDM', 'lib/virtual/nodes.c', 'mf_host_run(h, now);',
   'virtual names a system: mf_host_run'),
  ('an engine that asks for the stack', 'lib/wall/turn.c', 'if (c->stack_ops == NULL)',
   'wall names a system: stack_ops'),
  ('an engine with a type of EDM', 'lib/virtual/virtual.h', 'struct mf_switch *edm;',
   'virtual names a system: mf_switch'),
  ('an engine with the type of stacks', 'lib/wall/wall.h', 'const struct mf_stack_ops *stack;',
   'wall names a system: mf_stack_ops'),
  ('a capture that knows the name of EDM', 'lib/capture/sort.c', 'strcmp(name, MF_STACK_EDM);',
   'capture names a system: MF_STACK_EDM'),
  ('a result that asks for the bridge', 'lib/result/result.c', 'if (c->bridge_ops == NULL)',
   'result names a system: bridge_ops'),
  ('a record of a system', 'lib/record/record.c', 'struct mf_sched_grant grant;',
   'record names a system: mf_sched_grant'),
  ('telemetry with a special case', 'lib/telemetry/fabric.c', 'put_text(o, "stack", "edm");',
   'telemetry names a system: "edm"'),
)


def run(script, *args):
  made = subprocess.run([sys.executable, os.path.join(ROOT, '.ci', script), *args], capture_output=True,
                        text=True, check=False)
  return made.returncode, made.stdout + made.stderr


def rooms(tap, tree):
  status, said = run('check-rooms', tree)
  tap.ok((status, said) == (0, ''), 'nothing is said of the tree as it is', said)
  lines = [(name, path, f'#include "{header}"', why) for name, path, header, why in PLANTED]
  for name, path, line, why in lines + list(NAMED):
    path_in = os.path.join(tree, path)
    with open(path_in, encoding='utf-8') as file:
      before = file.read()
    with open(path_in, 'w', encoding='utf-8') as file:
      file.write(f'/* planted */\n{line}\n{before}')
    status, said = run('check-rooms', tree)
    tap.ok((status, said) == (1, f'{path}:2: {why}\n'), name, said)
    with open(path_in, 'w', encoding='utf-8') as file:
      file.write(before)
  os.mkdir(os.path.join(tree, 'lib', 'attic'))
  with open(os.path.join(tree, 'lib', 'attic', 'a.c'), 'w', encoding='utf-8') as file:
    file.write('int a;\n')
  status, said = run('check-rooms', tree)
  tap.ok((status, said) == (1, 'lib/attic/a.c:1: no room\n'), 'a folder that is no room', said)
  shutil.rmtree(os.path.join(tree, 'lib', 'attic'))
  with open(os.path.join(tree, '.ci', 'rooms-known'), 'a', encoding='utf-8') as file:
    file.write('lib/pcs/mux.c wall/wall.h\n')
  status, said = run('check-rooms', tree)
  tap.ok((status, said) == (1, '.ci/rooms-known: no longer: lib/pcs/mux.c wall/wall.h\n'),
         'a known violation that is there no more', said)


def functions(tap, tree):
  """A function may have 70 lines. Of a file in a folder of its own, which git need not know."""
  for lines, said in ((70, ''), (71, 'long.c:4: a function of 71 lines, 70 at most\n')):
    with open(os.path.join(tree, 'long.c'), 'w', encoding='utf-8') as file:
      file.write('/* SPDX-License-Identifier: BSD-3-Clause */\nvoid f(void);\nvoid f(void)\n{\n' +
                 '\tf();\n' * (lines - 2) + '}\n')
    made = subprocess.run([sys.executable, os.path.join(ROOT, '.ci', 'check-files')], input='long.c\0',
                          cwd=tree, capture_output=True, text=True, check=False)
    tap.ok(made.stdout == said and made.returncode == bool(said), f'a function of {lines} lines', made.stdout)


def circle(tap, tree, compiler, files, most):
  """Files of which each needs the next one, and the last one the first."""
  build, room = os.path.join(tree, 'build'), os.path.join(tree, 'lib', 'pcs')
  objects = os.path.join(build, 'lib', 'libmf_pcs.a.p')
  os.makedirs(objects)
  commands = []
  for n in range(files):
    source, made = os.path.join(room, f'c{n}.c'), f'lib/libmf_pcs.a.p/c{n}.o'
    with open(source, 'w', encoding='utf-8') as file:
      file.write(f'int c{n}(void);\nint c{(n + 1) % files}(void);\nint c{n}(void)\n{{\n'
                 f'\treturn c{(n + 1) % files}() + 1;\n}}\n')
    subprocess.run([compiler, '-O0', '-c', source, '-o', os.path.join(build, made)], check=True)
    commands.append({'output': made, 'file': f'../lib/pcs/c{n}.c'})
  with open(os.path.join(build, 'compile_commands.json'), 'w', encoding='utf-8') as file:
    json.dump(commands, file)
  status, said = run('check-circles', build)
  shutil.rmtree(build)
  if files <= most:
    tap.ok((status, said) == (0, ''), f'a circle of {files} is borne', said)
  else:
    tap.ok(status == 1 and said.startswith(f'lib/pcs/c0.c:1: a circle of {files} files, {most} at most:\n')
           and 'lib/pcs/c8.c: c0() of lib/pcs/c0.c' in said, f'a circle of {files} is told', said)


def main():
  tap = Tap()
  with tempfile.TemporaryDirectory() as tree:
    shutil.copytree(os.path.join(ROOT, 'lib'), os.path.join(tree, 'lib'))
    os.mkdir(os.path.join(tree, '.ci'))
    shutil.copy(os.path.join(ROOT, '.ci', 'rooms-known'), os.path.join(tree, '.ci'))
    rooms(tap, tree)
    functions(tap, tree)
    circle(tap, tree, sys.argv[2], 8, 8)
    circle(tap, tree, sys.argv[2], 9, 8)
  tap.done()


main()
