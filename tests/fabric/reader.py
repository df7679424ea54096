# SPDX-License-Identifier: BSD-3-Clause
"""Asks the telemetry of a program."""
import json
import os
import re
import socket

WAIT = 300  # seconds that an answer may take on a busy machine


def runtime_dir(prefix):
  """Where EAL has the socket, as dpdk-telemetry.py finds it."""
  base = os.environ.get('RUNTIME_DIRECTORY')
  if not base:
    base = '/var/run' if os.getuid() == 0 else os.environ.get('XDG_RUNTIME_DIR', '/tmp')
  return os.path.join(base, 'dpdk', prefix)


def prefix_in(said):
  """How a program says that it is to be asked, or None."""
  found = re.search(r'dpdk-telemetry\.py -f (\S+)', said)
  return found[1] if found else None


class Reader:
  """A connection to the telemetry of a program."""

  def __init__(self, prefix):
    path = os.path.join(runtime_dir(prefix), 'dpdk_telemetry.v2')
    self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    self.socket.connect(path)  # it may have to wait, which it does not with a timeout
    self.socket.settimeout(WAIT)
    self.room = json.loads(self.socket.recv(1024))['max_output_len']

  def ask(self, text):
    self.socket.send(text.encode())
    return json.loads(self.socket.recv(self.room))

  def get(self, command, *parameters):
    name = f'/memfab/{command}'
    return self.ask(','.join((name, *parameters)))[name]

  def close(self):
    self.socket.close()
