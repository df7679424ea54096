#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""meson install into an empty folder: what is there, and that it runs from there."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD, PREFIX = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap, why

TAP = Tap()


def run(*args, cwd=None):
  return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                        check=False,
                        cwd=cwd)


def files_below(folder):
  return {os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder)
          for name in names}


def sources(*patterns):
  """Files of the project, as git knows them or, without git, as they are there."""
  process = run('git', '-C', ROOT, 'ls-files', '--', *patterns)
  if process.returncode == 0 and process.stdout:
    return set(process.stdout.split('\n')) - {''}
  return {os.path.join(top, name) for top in patterns for name in files_below(os.path.join(ROOT, top))}


def programs(base, names):
  folder = os.path.join(base, 'bin')
  TAP.ok(sorted(os.listdir(folder)) == names, 'the programs', sorted(os.listdir(folder)))
  for name in names:
    process = run(os.path.join(folder, name), '--version', cwd=base)
    TAP.ok(process.returncode == 0 and process.stdout.startswith(name + ' '), f'{name} --version',
           f'{why(process)}\n{process.stdout}')


def examples(base):
  folder = os.path.join(base, 'share', 'memfab')
  there, wanted = files_below(folder), sources('examples')
  TAP.ok(wanted <= there and len(wanted) > 10, 'the examples', wanted - there)
  emu = os.path.join(base, 'bin', 'memfab-emu')
  for name in sorted(there):
    if name.endswith('.json'):
      process = run(emu, '--check', os.path.join(folder, name), cwd='/')
      TAP.ok(process.returncode == 0, f'{name} is good where it is', why(process))
  process = run(emu, '--clock', 'virtual', '--duration', '20us',
                os.path.join(folder, 'examples/quickstart.json'))
  TAP.ok(process.returncode == 0, 'memfab-emu runs one', why(process))


def report(base):
  """It finds the memfab-emu beside it."""
  emu, tool = (os.path.join(base, 'bin', name) for name in ('memfab-emu', 'memfab-report'))
  with tempfile.TemporaryDirectory() as folder:
    result = os.path.join(folder, 'result.json')
    process = run(emu, '--clock', 'virtual', '--duration', '20us', '--json', result,
                  os.path.join(base, 'share/memfab/examples/quickstart.json'))
    TAP.ok(process.returncode == 0, 'a result', why(process))
    process = run(tool, 'show', result, '-o', os.path.join(folder, 'page'), cwd=folder)
    TAP.ok(process.returncode == 0 and files_below(os.path.join(folder, 'page')),
           'memfab-report makes a page of it',
           why(process))


def documents(base, names):
  folder = os.path.join(base, 'share', 'doc', 'memfab')
  there = files_below(folder)
  wanted = {os.path.relpath(name, 'docs') for name in sources('docs')
            if not name.startswith('docs/man') and name != 'docs/meson.build'}
  TAP.ok(there == wanted | {'README.md', 'LICENSE'}, 'the documents', there ^ wanted)
  pages = sorted(os.listdir(os.path.join(base, 'share', 'man', 'man1')))
  TAP.ok(pages == [name + '.1' for name in names], 'the man pages', pages)


def dissector(base):
  there = [name for name in files_below(base) if name.endswith('wireshark/plugins/memfab.lua')]
  TAP.ok(len(there) == 1, "Wireshark's dissector", there)


def client(base, folder):
  """A program is compiled outside of the tree, with what pkg-config says, and runs."""
  found = [name for name in files_below(base) if name.endswith('memfab.pc')]
  if not TAP.ok(len(found) == 1, 'the pkg-config file', found):
    return
  env = {**os.environ, 'PKG_CONFIG_PATH': os.path.dirname(os.path.join(base, found[0])),
         'PKG_CONFIG_SYSROOT_DIR': folder}
  said = subprocess.run(['pkg-config', '--cflags', '--libs', 'memfab'], capture_output=True, text=True,
                        env=env, check=False)
  flags = said.stdout.split()
  if not TAP.ok(said.returncode == 0 and '-lmemfab' in flags, 'pkg-config memfab', why(said)):
    return
  code = os.path.join(base, 'share/memfab/examples/client')
  libs = next(flag[2:] for flag in flags if flag.startswith('-L'))
  with tempfile.TemporaryDirectory() as out:
    for name in ('chase', 'idle', 'kv', 'lock', 'log', 'table', 'alloc'):
      process = run('cc', '-Wall', '-Wextra', '-Werror', '-pthread', os.path.join(code, name + '.c'), '-o',
                    os.path.join(out, name), *flags, '-Wl,-rpath,' + libs, cwd=out)
      TAP.ok(process.returncode == 0, f'{name}.c is compiled by itself', why(process))
    process = run(os.path.join(out, 'chase'), '--number', '1000', os.path.join(code, 'fabric.json'), cwd=out)
    if "DPDK's EAL" in process.stderr:
      TAP.skip('and runs', process.stderr.strip())
    else:
      TAP.ok(process.returncode == 0, 'and runs', why(process))
    for language, standard in (('c', 'c99'), ('c', 'c17'), ('c++', 'c++11'), ('c++', 'c++20')):
      compiler = 'cc' if language == 'c' else 'c++'
      if shutil.which(compiler) is None:
        TAP.skip(f'memfab.h in {standard}', 'there is no compiler for it')
        continue
      path = os.path.join(out, 'alone.' + language)
      with open(path, 'w', encoding='utf-8') as file:
        file.write('#include <memfab.h>\n')
      process = run(compiler, '-x', language, f'-std={standard}', '-Wall', '-Wextra', '-Werror',
                    '-fsyntax-only', *flags[:1], path, cwd=out)
      TAP.ok(process.returncode == 0, f'memfab.h in {standard}', why(process))


def drivers(base):
  """Those that were built. EAL loads nothing from here, where anybody may write."""
  built = os.path.join(BUILD, 'drivers')
  names = os.listdir(built) if os.path.isdir(built) else []
  wanted = sorted(name for name in names if name.startswith('librte_') and name.endswith('.so'))
  there = [name for name in files_below(base) if os.path.basename(name).startswith('librte_')]
  TAP.ok(sorted(os.path.basename(name) for name in there) == wanted, 'the drivers', [there, wanted])
  for name in there:
    process = run('env', '-u', 'LD_LIBRARY_PATH', 'ldd', os.path.join(base, name))
    found = re.search(r'libmemfab\.so\.0 => (\S+)', process.stdout)
    TAP.ok(found and os.path.realpath(found[1]).startswith(os.path.realpath(base)),
           f'{os.path.basename(name)} finds libmemfab', process.stdout)


def main():
  names = ['memfab-chaos', 'memfab-doctor', 'memfab-emu', 'memfab-perf', 'memfab-report', 'memfab-trace']
  with tempfile.TemporaryDirectory() as folder:
    process = run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', folder)
    if not TAP.ok(process.returncode == 0, 'meson install', f'{why(process)}\n{process.stdout[-2000:]}'):
      return
    base = folder + PREFIX
    outside = [name for name in files_below(folder) if not ('/' + name).startswith(PREFIX + '/')]
    TAP.ok(not outside, 'nothing outside of the prefix', outside)
    programs(base, names)
    examples(base)
    report(base)
    documents(base, names)
    dissector(base)
    client(base, folder)
    drivers(base)


main()
TAP.done()
