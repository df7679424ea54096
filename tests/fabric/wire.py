#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The wires between three namespaces, for tests that run processes over them: carries Ethernet frames between
wire-NODE0 and wire-NODE1, and does to them what it is told, from a seed: what a qdisc does, and more.

  wire.py [--harm P] [--garbage P] [--version V] [--unheard T] [--seed N]

Ends with SIGTERM and writes what it did, as JSON: {"cause": frames}.
"""
import argparse
import collections
import json
import os
import random
import selectors
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'wireshark'))
import frames as f  # noqa: E402

NODES = ('cn', 'mn')
BURST = 64
HELD = 3  # frames that pass one that is late
STATE, DONE = 84, 2  # of a HELLO: where it is, and its bit


def options():
  parser = argparse.ArgumentParser(description='Carries frames.')
  parser.add_argument('--harm', type=float, default=0, help='share lost, doubled, late, damaged: each')
  parser.add_argument('--garbage', type=float, default=0, help='share of frames behind which comes another')
  parser.add_argument('--version', type=int, help='that HELLO is of')
  parser.add_argument('--unheard', type=float, default=0,
                      help='seconds in which no end hears that the other one has finished')
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


def open_device(name):
  """All that comes to it, and goes."""
  device = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
  device.bind((name, 0))
  device.setblocking(False)
  return device


def resealed(frame, at, octets):
  """With other octets, and a CRC that is right."""
  end = 44 + int.from_bytes(frame[38:40], 'little')
  frame = frame[:at] + octets + frame[at + len(octets):]
  return f.seal(frame[:44], frame[44:end]) + frame[end:]


class Garbage:
  """Frames that nobody should have sent, each of another kind. `like` is a frame that passes by."""

  def __init__(self, rng):
    self.rng = rng

  def random_octets(self, _):
    return self.rng.randbytes(self.rng.randrange(14, 1500))

  def random_behind_ethertype(self, like):
    return like[:14] + self.rng.randbytes(self.rng.randrange(0, 1400))

  def other_ethertype(self, like):
    return like[:12] + struct.pack('>H', self.rng.choice((0x0800, 0x86dd, 0x88b6, 0x8100))) + like[14:]

  def truncated(self, like):
    return like[:self.rng.randrange(14, len(like))]

  def bad_crc(self, like):
    at = self.rng.randrange(40, 44)
    return like[:at] + bytes([like[at] ^ 1 << self.rng.randrange(8)]) + like[at + 1:]

  def huge_length(self, like):
    return like[:38] + struct.pack('<H', self.rng.choice((0xffff, 0xff00, len(like)))) + like[40:]

  def huge_blocks(self, like):
    return resealed(like, 36, struct.pack('<H', self.rng.choice((0xffff, 521, 4000))))

  def no_link(self, like):
    return resealed(like, 16, struct.pack('<H', self.rng.choice((2, 511, 512, 0xffff))))

  def unknown_type(self, like):
    return resealed(like, 15, bytes([self.rng.choice((0, 7, 255))]))

  def other_version(self, like):
    return resealed(like, 14, bytes([self.rng.choice((0, 2, 255))]))

  def other_connection(self, like):
    return resealed(like, 20, self.rng.randbytes(4))

  def unknown_flags(self, like):
    return resealed(like, 18, struct.pack('<H', int.from_bytes(like[18:20], 'little') | 0x8000))

  def reflected(self, like):
    return resealed(like, 18, bytes([like[18] ^ 1]))

  def far_number(self, like):
    return resealed(like, 24, struct.pack('<I', self.rng.randrange(2**32)))

  def stranger(self, like):
    """A HELLO of somebody newer, or older, who does not know us."""
    epoch = self.rng.choice((1, 2**63, 2**64 - 1, 0))
    return f.hello(int.from_bytes(like[16:18], 'little'), bool(like[18] & 1), epoch,
                   self.rng.randrange(2**64), 'x' * 32, fabric=self.rng.randrange(2**64))

  def refusal(self, like):
    return f.refuse(int.from_bytes(like[16:18], 'little'), bool(like[18] & 1), self.rng.randrange(9),
                    self.rng.randrange(2**64), 0, self.rng.randrange(2**64))

  KINDS = (random_octets, random_behind_ethertype, other_ethertype, truncated, bad_crc, huge_length,
           huge_blocks, no_link, unknown_type, other_version, other_connection, unknown_flags, reflected,
           far_number, stranger, refusal)


class Direction:
  """Frames from one device to another."""

  def __init__(self, source, sink, args, did):
    self.source, self.sink, self.args, self.did = source, sink, args, did
    self.rng = random.Random(args.seed)
    self.garbage = Garbage(self.rng)
    self.late = []  # [frames that still pass, frame]
    self.done = None  # when this side first said that it has finished

  def send(self, frame):
    try:
      self.sink.send(frame)
      self.did['carried'] += 1
    except OSError:
      self.did['no room'] += 1

  def harmed(self, frame):
    """What comes of one: none, or several."""
    harm, rng = self.args.harm, self.rng
    if rng.random() < harm:
      self.did['lost'] += 1
      return
    if rng.random() < harm:
      self.did['damaged'] += 1
      at = rng.randrange(len(frame))
      frame = frame[:at] + bytes([frame[at] ^ 1 << rng.randrange(8)]) + frame[at + 1:]
    if rng.random() < harm:
      self.did['late'] += 1
      self.late.append([HELD, frame])
      return
    yield frame
    if rng.random() < harm:
      self.did['doubled'] += 1
      yield frame
    for entry in self.late:
      entry[0] -= 1
    while self.late and self.late[0][0] <= 0:
      yield self.late.pop(0)[1]

  def inject(self, like):
    # By turns, so that there are some of each, however few frames pass.
    kind = self.garbage.KINDS[self.did['garbage'] % len(self.garbage.KINDS)]
    self.did['garbage'] += 1
    self.did[kind.__name__] += 1
    self.send(kind(self.garbage, like))

  def unheard(self, frame):
    """A HELLO: without the word that all is done, until it has been said for long."""
    self.done = self.done or (time.monotonic() if frame[STATE] & DONE else None)
    if self.done is None or time.monotonic() >= self.done + self.args.unheard:
      return frame
    self.did['unheard'] += 1
    return resealed(frame, STATE, bytes([frame[STATE] & ~DONE]))

  def carry(self, frame):
    if frame[12:14] == b'\x88\xb5' and frame[15] == f.HELLO:
      if self.args.version is not None:
        frame = resealed(frame, 14, bytes([self.args.version]))
      if self.args.unheard:
        frame = self.unheard(frame)
    if self.args.harm == 0:
      self.send(frame)
    else:
      for one in self.harmed(frame):
        self.send(one)
    if self.rng.random() < self.args.garbage:
      self.inject(frame)

  def run(self):
    for _ in range(BURST):
      try:
        frame, address = self.source.recvfrom(65535)
      except BlockingIOError:
        return
      if address[2] != socket.PACKET_OUTGOING:
        self.carry(frame)


def main():
  args, did = options(), collections.Counter()
  selector = selectors.DefaultSelector()
  for node in NODES:
    ends = [open_device(f'wire-{node}{i}') for i in (0, 1)]
    selector.register(ends[0], selectors.EVENT_READ, Direction(*ends, args, did))
    selector.register(ends[1], selectors.EVENT_READ, Direction(*ends[::-1], args, did))
  going = [True]
  signal.signal(signal.SIGTERM, lambda *_: going.clear())
  print('ready', flush=True)
  while going:
    for key, _ in selector.select(0.1):
      key.data.run()
  print(json.dumps(did), flush=True)


main()
