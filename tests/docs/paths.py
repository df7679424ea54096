#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The paths that documents name exist, and the first screen of docs/architecture.md says where things are.

  paths.py ROOT

A path is one in backticks, or of a link, that begins with a folder of the tree. It may hold * and [xy], and
words in capitals that stand for any name: lib/systems/NAME/, examples/FILE.json.
"""
import glob
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fabric'))

from emu import Tap

FOLDERS = r'(?:lib|docs|tests|apps|tools|drivers|examples|\.ci)/'
CODE = re.compile(r'(?<!`)`([^`]+)`(?!`)')
IN_CODE = re.compile(r'(?<![\w./-])(' + FOLDERS + r'[^\s,;:"\'()|=<>]*)')
LINK = re.compile(r'\]\(([^)\s#]+)(?:#[^)]*)?\)')
FENCE = re.compile(r'^```.*?^```', re.M | re.S)
PLACEHOLDER = re.compile(r'(?<![^/])[A-Z][A-Z_]*(?![^/.])')
SCREEN = 45  # lines
WHERE = ('lib/virtual', 'lib/wall', 'lib/config', 'lib/systems/cxl', 'lib/systems/edm/sched', 'tests/')


def documents(root):
  """README.md, SECURITY.md, and all that is in docs, relative to the root."""
  yield 'README.md'
  yield 'SECURITY.md'
  for path in sorted(glob.glob(os.path.join(root, 'docs', '**', '*.md'), recursive=True)):
    yield os.path.relpath(path, root)


def read(root, path):
  with open(os.path.join(root, path), encoding='utf-8') as file:
    return file.read()


def named(text, folder):
  """The paths that a document in a folder names, relative to the root."""
  text = FENCE.sub('', text)
  for code in CODE.findall(text):
    for path in IN_CODE.findall(code):
      yield path.rstrip('.')
  for link in LINK.findall(text):
    if '://' not in link:
      yield os.path.normpath(os.path.join(folder, link))


def exists(root, path):
  """As it stands, or with any name where the path leaves one open."""
  if os.path.exists(os.path.join(root, path)):
    return True
  pattern = PLACEHOLDER.sub('*', path)
  if '*' not in pattern and '[' not in pattern:
    return False
  return bool(glob.glob(os.path.join(glob.escape(root), pattern), include_hidden=True))


def check_itself(tap):
  """What is taken for a path, and what is not."""
  text = ('`lib/a.c`, `see docs/b.md.` and [c](../tests/c.py#d), but not build/lib/x or `build/lib/x`\n'
          '```\n`lib/fence.c`\n```\n')
  found = list(named(text, 'docs'))
  tap.ok(found == ['lib/a.c', 'docs/b.md', 'tests/c.py'], 'paths are found in backticks and links', found)
  here = os.path.dirname(os.path.abspath(__file__))
  cases = (('paths.py', True), ('*.py', True), ('NAME.py', True), ('no.py', False), ('no*.py', False),
           ('Name.py', False))
  wrong = [path for path, there in cases if exists(here, path) != there]
  tap.ok(not wrong, 'a path exists, or one that it stands for', wrong)


def main(root):
  tap = Tap()
  check_itself(tap)
  for document in documents(root):
    paths = set(named(read(root, document), os.path.dirname(document)))
    missing = sorted(path for path in paths if not exists(root, path))
    tap.ok(not missing, f'{document}: {len(paths)} paths', '\n'.join(missing))
  screen = '\n'.join(read(root, 'docs/architecture.md').split('\n')[:SCREEN])
  missing = [place for place in WHERE if place not in screen]
  tap.ok(not missing, 'docs/architecture.md says on its first screen where things are', '\n'.join(missing))
  tap.done()


main(sys.argv[1])
