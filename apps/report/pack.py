#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Packs memfab-report into one file that runs: pack.py TARGET BUILT.py SOURCE...

Debian's modules are those of /usr/bin/python3, whatever python3 comes first on the path."""
import os
import stat
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = b'#!/usr/bin/python3\n'
WHEN = (2025, 1, 1, 0, 0, 0)  # the same file for the same sources


def main(target, built, *sources):
  with open(target, 'wb') as file:
    file.write(PYTHON)
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as archive:
      for path in [built, *sorted(sources)]:
        name = 'memfab_report/built.py' if path == built else os.path.relpath(path, HERE)
        with open(path, 'rb') as source:
          archive.writestr(zipfile.ZipInfo(name, WHEN), source.read(), zipfile.ZIP_DEFLATED)
  os.chmod(target, os.stat(target).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


main(*sys.argv[1:])
