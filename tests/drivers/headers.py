#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
""".ci/driver-headers among made-up programs of a distribution: what it asks apt for, takes and refuses."""
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = sys.argv[1]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap

TAP = Tap()
VERSION = '9.8.7'
SOURCE = 'dpdk 9.8.7-1'
HEADERS = ('lib/ethdev/ethdev_driver.h', 'lib/ethdev/ethdev_vdev.h', 'lib/eal/include/dev_driver.h',
           'drivers/bus/vdev/bus_vdev_driver.h', 'lib/dmadev/rte_dmadev_pmd.h')
NAMES = sorted([os.path.basename(h) for h in HEADERS] + ['VERSION'])

# What the script runs of the system, but for what only moves files. apt-get keeps what it was given.
PROGRAMS = {
  'pkg-config': 'case $1 in --modversion) echo $VERSION;; *) echo -I$BASE/include;; esac',
  'dpkg-query': '[ -n "$SOURCE" ] && echo "$SOURCE installed"',
  'apt-config': 'echo "etc=\'$BASE/etc/\'"',
  'apt-get': '''
echo "$*" >>$BASE/calls
for word; do case $word in
  Dir::Etc::SourceList=*) cat "${word#*=}" >>$BASE/entries;;
  Dir::Etc::SourceParts=*) cat "${word#*=}"/* >>$BASE/entries;;
  update) exit $APT;;
  source) cp $BASE/archive/* . || echo "E: Unable to find a source package";;
esac; done
exit $APT''',
}


def add(tar, name, text):
  entry = tarfile.TarInfo(name)
  entry.size = len(text)
  tar.addfile(entry, io.BytesIO(text.encode()))


class Place:
  """A folder with everything that the script sees."""

  def __init__(self, base, version=VERSION, left_out=(), patch='lib/eal/common.c'):
    self.base, self.folder = base, os.path.join(base, 'cache', 'headers')
    self.variables = {'VERSION': VERSION, 'SOURCE': SOURCE, 'APT': '0'}
    for name in ('bin', 'etc/sources.list.d', 'archive', 'include'):
      os.makedirs(os.path.join(base, name))
    for name, text in PROGRAMS.items():
      self.write(os.path.join('bin', name), '#!/bin/sh\n' + text + '\n')
      os.chmod(os.path.join(base, 'bin', name), 0o755)
    with tarfile.open(os.path.join(base, 'archive', 'dpdk_9.orig.tar.xz'), 'w:xz') as tar:
      add(tar, 'dpdk-stable-9/VERSION', version + '\n')
      for name in HEADERS:
        if name not in left_out:
          add(tar, 'dpdk-stable-9/' + name, f'/* {name} */\n')
    with tarfile.open(os.path.join(base, 'archive', 'dpdk_9.debian.tar.xz'), 'w:xz') as tar:
      add(tar, 'debian/patches/one.patch', f'--- a/{patch}\n+++ b/{patch}\n')

  def write(self, name, text):
    with open(os.path.join(self.base, name), 'w', encoding='utf-8') as file:
      file.write(text)

  def read(self, name):
    try:
      with open(os.path.join(self.base, name), encoding='utf-8') as file:
        return file.read()
    except OSError:
      return ''

  def run(self, **variables):
    path = os.path.join(self.base, 'bin') + ':/usr/bin:/bin'
    return subprocess.run([os.path.join(ROOT, '.ci', 'driver-headers'), self.folder], capture_output=True,
                          text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
                          env={**self.variables, **variables, 'BASE': self.base, 'PATH': path,
                               'TMPDIR': self.base})

  def has(self):
    return sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []


def place(test):
  def within():
    with tempfile.TemporaryDirectory() as base:
      test(base)
  return within


def refused(what, run, here, reason):
  missing = here.read('cache/headers.missing').strip()
  TAP.ok(run.returncode == 1 and run.stderr.count('\n') == 1 and reason in run.stderr and reason in missing
         and 'VERSION' not in here.has(), what, f'{run}\n{missing}\n{here.has()}')


@place
def fetched(base):
  here = Place(base)
  here.write('etc/sources.list', '# deb of a comment\ndeb [arch=amd64] mirror:one stable main\n'
                                 'deb-src mirror:two stable main\n')
  here.write('etc/sources.list.d/a.list', ' deb\tmirror:three stable main\n')
  here.write('etc/sources.list.d/b.sources', 'types: deb\nURIs: mirror:four\n\n'
                                             'Types: deb deb-src\nURIs: five\n')
  here.write('etc/sources.list.d/c.list.disabled', 'deb mirror:six stable main\n')
  run = here.run()
  TAP.ok(run.returncode == 0 and here.has() == NAMES, 'five headers and the version are there',
         f'{run}\n{here.has()}')
  TAP.ok(all(here.read('cache/headers/' + os.path.basename(h)) == f'/* {h} */\n' for h in HEADERS),
         'each is the one of its folder')
  want = ['deb-src [arch=amd64] mirror:one stable main', 'deb-src\tmirror:three stable main',
          'Types: deb-src', 'URIs: mirror:four', '', 'Types: deb-src', 'URIs: five']
  entries = here.read('entries').splitlines()
  TAP.ok(entries == want * 2, 'apt gets the sources of what is configured, and nothing else', entries)
  calls = here.read('calls').splitlines()
  TAP.ok(len(calls) == 2 and calls[1].endswith('--only-source dpdk=9.8.7-1'), 'of exactly that version',
         calls)
  TAP.ok(all(f'-o {key}={base}' in call for call in calls for key in ('Dir::State', 'Dir::Cache')),
         'apt keeps nothing outside of the folder for temporary files', calls)
  left = [f for f in os.listdir(base) if f.startswith('tmp')]
  TAP.ok(not left, 'temporary files are gone', left)

  run = here.run(APT='100')
  TAP.ok(run.returncode == 0 and run.stdout + run.stderr == '' and len(here.read('calls').splitlines()) == 2,
         'the second time nothing is said or fetched', run)
  here.write('cache/headers/mine.txt', 'mine\n')
  here.write('cache/headers/VERSION', 'older\n')
  run = here.run()
  TAP.ok(run.returncode == 0 and here.read('cache/headers/VERSION') == VERSION + '\n'
         and here.read('cache/headers/mine.txt') == 'mine\n', 'headers of another version are replaced', run)


@place
def gone(base):
  here = Place(base)
  shutil.rmtree(os.path.join(base, 'archive'))
  refused('no such source', here.run(APT='100'), here, 'Unable to find a source package')
  refused('the reason stays', here.run(APT='100'), here, 'Unable to find a source package')
  os.rename(Place(os.path.join(base, 'later')).base + '/archive', os.path.join(base, 'archive'))
  run = here.run()
  TAP.ok(run.returncode == 0 and here.has() == NAMES and here.read('cache/headers.missing') == '',
         'it goes once the source is there', run)


@place
def incomplete(base):
  here = Place(base, left_out=HEADERS[2:3])
  refused('a header is not where it was', here.run(), here, 'not as expected')


@place
def other(base):
  here = Place(base, version='9.8.6')
  refused('the source is of another version', here.run(), here, 'is of DPDK 9.8.6, installed is 9.8.7')


@place
def patched(base):
  here = Place(base, patch=HEADERS[3])
  refused('a patch of the distribution changes one', here.run(), here, 'patches of dpdk change')


@place
def foreign(base):
  here = Place(base)
  refused('DPDK is no package', here.run(SOURCE=''), here, "is not Debian's libdpdk-dev")
  for name in NAMES:
    here.write(os.path.join('include', name), 'x\n')
  run = here.run(SOURCE='')
  TAP.ok(run.returncode == 0 and here.has() == [], 'DPDK came with them', run)


for case in (fetched, gone, incomplete, other, patched, foreign):
  case()
TAP.done()
