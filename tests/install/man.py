#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The man pages: one a program, with exactly the options that its --help prints, and of good form."""
import os
import re
import shutil
import subprocess
import sys

ROOT, BUILT, *PROGRAMS = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap

TAP = Tap()
OPTION = re.compile(r'(?<![\w-])(--[a-z][\w-]*|-[a-zA-Z])(?![\w-])')
COMMANDS = {'memfab-report': ('figures', 'show', 'merge')}  # each has a --help of its own
LINTS = (['groff', '-man', '-Tutf8', '-ww', '-z'], ['mandoc', '-T', 'lint', '-W', 'warning'])


def output(*args):
  return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                        check=True, env={**os.environ, 'COLUMNS': '500'}).stdout


def helped(program, name):
  texts = [output(program, '--help')] + [output(program, c, '--help') for c in COMMANDS.get(name, ())]
  return set(OPTION.findall('\n'.join(texts)))


def written(text):
  lines = [line for line in text.splitlines() if not line.startswith('.\\"')]
  text = re.sub(r'\\f[A-Z]', '', '\n'.join(lines)).replace('\\-', '-')
  return set(OPTION.findall(text.replace('"', ' ')))


def page(program):
  name = os.path.basename(program)
  path = os.path.join(BUILT, name + '.1')
  with open(path, encoding='utf-8') as file:
    text = file.read()
  has, should = written(text), helped(program, name)
  TAP.ok(has == should and len(has) > 3, f'{name}: the options of --help',
         f'not in the page: {should - has}, not in --help: {has - should}')
  left = re.findall(r'@[A-Z]+@', text)
  TAP.ok(not left, f'{name}: all names are filled in', left)
  version = output(program, '--version').split()[1].rstrip(',')
  TAP.ok(f'"memfab {version}"' in text, f'{name}: the version is the program\'s', version)
  others = set(re.findall(r'^\.BR (memfab-\w+) \(1\)', text, re.MULTILINE))
  TAP.ok(others and others <= {os.path.basename(p) for p in PROGRAMS} - {name}, f'{name}: other pages',
         others)
  for lint in LINTS:
    if shutil.which(lint[0]) is None:
      TAP.skip(f'{name}: {lint[0]}', f'{lint[0]} is not installed')
      continue
    run = subprocess.run([*lint, path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                         check=False)
    TAP.ok(run.returncode == 0 and run.stdout + run.stderr == '', f'{name}: {lint[0]}',
           run.stdout + run.stderr)


for PROGRAM in PROGRAMS:
  page(PROGRAM)
pages = {name for name in os.listdir(os.path.join(ROOT, 'docs', 'man'))}
TAP.ok(pages == {os.path.basename(p) + '.1' for p in PROGRAMS}, 'a page for each program', pages)
TAP.done()
