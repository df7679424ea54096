# SPDX-License-Identifier: BSD-3-Clause
"""Runs tshark with the dissector, never as root: it takes no scripts of root, and who reads captures should
not be."""
import json
import os
import shutil
import subprocess
import tempfile

DISSECTOR = 'tools/wireshark/memfab.lua'
NOBODY = 65534


def why_not():
  """Why there is no tshark to run, or None."""
  if shutil.which('tshark') is None:
    return 'tshark is not installed (package tshark)'
  if os.getuid() == 0 and shutil.which('setpriv') is None:
    return 'root without setpriv: tshark takes no scripts of root'
  return None


class Tshark:
  """A folder that anybody may read, with the dissector in it."""

  def __init__(self, root):
    self.folder = tempfile.mkdtemp()
    os.chmod(self.folder, 0o755)
    self.script = shutil.copy(os.path.join(root, DISSECTOR), self.folder)
    os.chmod(self.script, 0o644)
    self.errors = ''
    if os.getuid() == 0:
      os.chown(self.folder, NOBODY, NOBODY)

  def __enter__(self):
    return self

  def __exit__(self, *_):
    shutil.rmtree(self.folder)

  def path(self, name):
    return os.path.join(self.folder, name)

  def run(self, capture, *args):
    """Its output. What it complains of is in errors: an error of a script leaves the exit status 0."""
    path = self.path(os.path.basename(capture))
    if os.path.abspath(capture) != path:
      shutil.copy(capture, path)
    os.chmod(path, 0o644)
    drop = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups'] if os.getuid() == 0 else []
    env = {**os.environ, 'HOME': self.folder, 'XDG_CONFIG_HOME': self.folder, 'TZ': 'UTC',
           'LC_ALL': 'C.UTF-8'}
    command = [*drop, 'tshark', '-n', '-X', f'lua_script:{self.script}', '-r', path, *args]
    process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                             check=False, env=env)
    self.errors = process.stderr + ('' if process.returncode == 0 else f'exit {process.returncode}')
    return process.stdout

  def fields(self, capture, names, prefs=(), more=('-2',)):
    """A line a frame: the values of each field, as text. In two passes, so that later frames are known."""
    options = [o for name in names for o in ('-e', name)] + [o for p in prefs for o in ('-o', p)]
    out = self.run(capture, *more, '-T', 'fields', '-E', 'separator=/t', '-E', 'aggregator=|', *options)
    return [[v.split('|') if v else [] for v in line.split('\t')] for line in out.splitlines()]

  def json(self, capture):
    """What the dissector says of each frame."""
    frames = json.loads(self.run(capture, '-2', '-T', 'json', '--no-duplicate-keys', '-J', 'memfab'))
    return [frame['_source']['layers'].get('memfab') for frame in frames]
