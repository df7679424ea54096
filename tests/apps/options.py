#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Options of all programs, as their --help names them: none swallows the next one, none undoes another."""
import os
import sys
import tempfile

from programs import Program, Tap, refused, why

FILES = ('FILE', 'FOLDER', 'FILE[,room=SIZE]', 'FILE[,link=LINK[+LINK...]][,dir=up|down]', 'F', 'DIR')
SEVERAL = {'memfab-emu': {'capture'}}
LISTS = {'memfab-chaos': {'history'}}  # in the place of options: what follows are files
# What the argument of an option may be, where one of its kind may not.
GOOD = {'emu': 'a', 'fabrics': 'a', 'clock': 'virtual', 'to': 'memfab', 'from': 'edm', 'link': '100G',
        'lcores': '0', 'classes': 'lose',
        'noise': '1', 'root': '/', 'pattern': 'zipf', 'mix': 'read:1', 'replay': 'a', 'record': 'a',
        'clients': '1', 'rate': '1', 'stats-period': '1', 'nodes': '2', 'duration': '1ms', 'warmup': '1ms',
        'linger': '1ms'}
APART = {
  'memfab-emu': [['--check', '--print-config'], ['--print-config', '--check'], ['--check', '--replay', 'a'],
                 ['--replay', 'a', '--check'], ['--print-config', '--replay', 'a'],
                 ['--print-graph', '--check'], ['--print-config', '--print-graph']],
  'memfab-perf': [['-n', '5', '-D', '1ms'], ['-D', '1ms', '-n', '5'], ['-s', '64', '-a'], ['-a', '-s', '64']],
  'memfab-chaos': [['--case', '--print'], ['--print', '--case']],
}


def check_one(tap, program, name, letter, argument):
  """An option with an argument."""
  option = f'--{name}'
  file = argument in FILES
  process = program.run(option, '--help')
  tap.ok(refused(process, option, "'--help' is an option"), f'{program.name} {option} --help', why(process))
  process = program.run(option, '--nothing-like-that=x')
  tap.ok(refused(process, option, "'--nothing-like-that=x' is an option"),
         f'{program.name} {option} --nothing-like-that=x', why(process))
  if file:
    tap.ok('write ./--nothing-like-that=x' in process.stderr, f'{program.name} {option}: how to write it',
           why(process))
    process = program.run(f'{option}=', 'x')
    tap.ok(refused(process, option, 'not an empty one'), f'{program.name} {option}=', why(process))
  if letter:
    process = program.run(f'-{letter}', f'--{name}')
    tap.ok(refused(process, option, f"'--{name}' is an option"), f'{program.name} -{letter} --{name}',
           why(process))
  good = GOOD.get(name, '1')
  if name not in SEVERAL.get(program.name, ()):
    process = program.run(f'{option}={good}', option, good)
    tap.ok(refused(process, f'{option} is given twice'), f'{program.name} {option} twice', why(process))


def check_files(tap, program, folder):
  """Nothing is made of a name that was meant as an option."""
  tap.ok(os.listdir(folder) == [], f'{program.name}: no file is left', os.listdir(folder))


def commands(tap, perf, fabric):
  """memfab-perf --cmdline-file: what is no file of commands is told, and nothing is read without end."""
  here = os.getcwd()
  long = os.path.join(here, 'long')
  with open(long, 'w', encoding='utf-8') as file:
    file.write('show config\n' + 'x' * 5000 + '\n')
  for path, said in {here: f'{here}: Is a directory', '/dev/zero': '/dev/zero:1: is no text',
                     '/nowhere': '/nowhere: No such file', long: f'{long}:2: the line is too long'}.items():
    process = perf.run('--clock', 'virtual', '--cmdline-file', path, fabric)
    tap.ok(process.returncode == 2 and said in process.stderr, f'commands of {path}', why(process))
  os.unlink(long)


def main(root, *paths):
  tap = Tap()
  programs = [Program(path) for path in paths]
  with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for program in programs:
      options = program.options()
      for name in LISTS.get(program.name, ()):
        del options[name]
      tap.ok(len(options) >= 4, f'{program.name}: has options', options)
      for name, (letter, argument) in options.items():
        if argument:
          check_one(tap, program, name, letter, argument)
      for words in APART.get(program.name, ()):
        process = program.run(*words, 'x')
        tap.ok(refused(process, 'do not go together'), f'{program.name} {" ".join(words)}', why(process))
      check_files(tap, program, folder)
      if program.name == 'memfab-perf':
        commands(tap, program, os.path.join(root, 'examples', 'quickstart.json'))
    os.chdir('/')
  tap.done()


main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
