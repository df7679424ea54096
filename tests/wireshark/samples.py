#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The sample captures: those of fabrics are what memfab-emu writes today, octet by octet, that of a handshake
is what lib/link does, and tshark says of all of them what is in golden/. With --write as the fourth argument
they are made anew."""
import difflib
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
import frames as f  # noqa: E402
from emu import Tap  # noqa: E402
from tshark import Tshark, why_not  # noqa: E402

SAMPLES = 'tools/wireshark/samples'
GOLDEN = 'tests/wireshark/golden'
FABRICS = ('operations', 'preempted')  # NAME.json, NAME.pcapng
DATA = bytes(range(64))


def retransmission():
  """The second frame of three is lost behind the sender, asked for, and sent again with what followed."""
  write = f.chunk(f.WREQ_ACK, 0, 1, 3, DATA, addr=0x2000)
  one, two, three = (f.data(0, False, i, b) for i, b in enumerate(
    (f.notify(1, 3, 64), write[:5], write[5:])))
  return [one, three, f.link_frame(f.NACK, 0, True, ack=1, limit=256), two, three,
          f.link_frame(f.ACK, 0, True, ack=3, limit=256), f.data(0, True, 0, f.mst_ack(1, 0, 3), ack=3)]


def faults():
  """Each of what the dissector warns of."""
  read = f.rreq(0, 1, 0, 0, 64)
  good = f.data(0, False, 0, read)
  damaged = [read[0], (f.CONTROL, read[1][1] ^ 1 << 33)]
  return [good[:60] + bytes([good[60] ^ 4]) + good[61:], good, f.data(0, False, 1, damaged),
          f.data(0, True, 0, f.mst_err(1, 0, 0, 1, f.RREQ)), f.data(0, False, 2, read[:1] + read), f.data(
            0, False, 5, f.long_message(f.ms_of(15, 0, 1, 0), [], 0xe2)), good[:50]]


MADE = {'retransmission': retransmission, 'faults': faults}  # NAME.pcap
PLAYED = ('handshake',)  # NAME.pcap, by a program of lib/link


def make(emu, root, played, name, path):
  """@return why not, or nothing"""
  if name in MADE:
    f.write_pcap(path, MADE[name]())
    return ''
  command = [played, path] if name in PLAYED else [
    emu, '--clock', 'virtual', '--capture', path, os.path.join(root, SAMPLES, name + '.json')]
  process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
  return process.stderr if process.returncode != 0 else ''


def read(path):
  with open(path, 'rb') as file:
    return file.read()


def text_of(layers):
  return json.dumps(layers, indent=1) + '\n'


def compare(tap, tshark, name, path, golden):
  there = read(golden).decode()
  found = text_of(tshark.json(path))
  lines = list(difflib.unified_diff(there.splitlines(), found.splitlines(), 'golden', 'tshark', lineterm='',
                                    n=1))
  tap.ok(found == there and len(there) > 1000, f'{name}: tshark says what it should', '\n'.join(lines[:40] + [
    tshark.errors]))


def main(emu, root, played, write=''):
  tap, reason = Tap(), why_not()
  with tempfile.TemporaryDirectory() as folder, Tshark(root) as tshark:
    for name in (*FABRICS, *PLAYED, *MADE):
      file = name + ('.pcapng' if name in FABRICS else '.pcap')
      path = os.path.join(root, SAMPLES, file)
      golden = os.path.join(root, GOLDEN, name + '.json')
      made = path if write else os.path.join(folder, file)
      problem = make(emu, root, played, name, made)
      tap.ok(problem == '' and read(made) == read(path), f'{file}: as it is made today', problem)
      if write:
        with open(golden, 'w', encoding='utf-8') as out:
          out.write(text_of(tshark.json(path)))
      if reason:
        tap.skip(name, reason)
      else:
        compare(tap, tshark, name, path, golden)
  tap.done()


main(*sys.argv[1:])
