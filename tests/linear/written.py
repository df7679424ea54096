#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A writer of histories that knows docs/history.md and nothing else: what it writes is accepted, and of what
is wrong the log, the record and the field are named.

  written.py ROOT CHECK
"""
import os
import random
import struct
import sys

ROOT, CHECK = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap, why
from histories import IN_ORDER, LOSSLESS, TELLS, Checker, sum_of
from parts import Folder

READ, WRITE, WRITE_ACK, CAS, FADD, SWAP, OR, AND, CUT, UNKNOWN, ZEROED = range(11)
UNDER_WAY, OK, FAILED, RESTARTED, REFUSED, NO_ROOM = range(6)
ALL_ONES = 2**64 - 1
FINGERPRINT, NODE, OCTETS = 0x1234567890abcdef, 7, 256


def h(x):
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2**64
  x = (x ^ x >> 27) * 0x94d049bb133111eb % 2**64
  return x ^ x >> 31


def chosen(group, k):
  """The word of an aligned group of 2^k that is recorded."""
  word = group
  for s in range(k - 1, -1, -1):
    word = 2 * word + h(FINGERPRINT ^ h((word << 16) % 2**64 + NODE) ^ s) % 2
  return word


def words_of(address, octets, data, k):
  """Of each word that is chosen the octets that are the operation's."""
  words = []
  for word in range(address // 8, (address + octets - 1) // 8 + 1):
    if chosen(word >> k, k) == word:
      part = bytes(data[at - address] if address <= at < address + octets else 0
                   for at in range(8 * word, 8 * word + 8))
      words.append(int.from_bytes(part, 'little'))
  return words


class Record:
  """One record, with what docs/history.md says of the fields that are not given."""

  def __init__(self, kind, call=0, ret=ALL_ONES, address=0, octets=1, client=0, outcome=UNDER_WAY, words=()):
    self.kind, self.call, self.ret, self.address, self.octets = kind, call, ret, address, octets
    self.client, self.outcome, self.words, self.count = client, outcome, list(words), None
    self.zero, self.space = 0, 0

  def packed(self):
    return struct.pack('<QQQQHHBBBBII', self.call, self.ret, self.address, self.octets, self.client, NODE,
                       self.kind, self.outcome, 0, self.zero, self.space,
                       len(self.words) if self.count is None else self.count) \
      + struct.pack(f'<{len(self.words)}Q', *self.words)


def packed(logs, k=0, flags=IN_ORDER | LOSSLESS | TELLS, records=None):
  body = [b''.join(record.packed() for record in log) for log in logs]
  heads = b''.join(struct.pack('<QQQQ', len(octets) // 8, len(log) if records is None else records, ALL_ONES,
                               sum_of(1, octets)) for octets, log in zip(body, logs))
  head = struct.pack('<8sIIQIIQQ16s', b'MFHIST\r\n', 1, len(logs), FINGERPRINT, k, flags, 0, 0, bytes(16))
  return head + struct.pack('<Q', sum_of(sum_of(1, head), heads)) + heads + b''.join(body)


def atomic(kind, was, arg):
  return {CAS: arg[1] if was == arg[0] else was, FADD: (was + arg[0]) % 2**64, SWAP: arg[0], OR: was | arg[0],
          AND: was & arg[0]}[kind]


def operation(rng, memory, k, call, client):
  """It takes effect at once."""
  kind, outcome = rng.randrange(AND + 1), rng.choice((OK, OK, OK, OK, FAILED, UNDER_WAY, REFUSED))
  ret = ALL_ONES if outcome == UNDER_WAY else call + rng.randrange(5)
  happens = outcome == OK or (outcome != REFUSED and rng.random() < .5)
  if kind >= CAS:
    address, octets = 8 * rng.randrange(OCTETS // 8), 8
    was = int.from_bytes(memory[address:address + 8], 'little')
    arg = [rng.choice((was, rng.randrange(2**64))), rng.randrange(2**64) if kind == CAS else 0]
    words = words_of(address, 8, bytes(8), k) and [*arg, was if outcome == OK else 0]
    data = atomic(kind, was, arg).to_bytes(8, 'little')
  else:
    octets = rng.randrange(1, 60)
    address = rng.randrange(OCTETS - octets)
    found = bytes(memory[address:address + octets])
    data = rng.randbytes(octets) if kind != READ else found
    words = words_of(address, octets, data if kind != READ or outcome == OK else bytes(octets), k)
  if happens:
    memory[address:address + octets] = data
  return Record(kind, call, ret, address, octets, client, outcome, words)


def random_logs(rng, k, cuts):
  """Three clients, one after the other; a region is zeroed, a store is not known, links are lost."""
  memory, logs, call = bytearray(OCTETS), [[], [], []], 0
  logs[1].append(Record(UNKNOWN, address=OCTETS, octets=64))
  for _ in range(300):
    client = rng.randrange(3)
    call += 10
    if rng.random() < .03:
      logs[client].append(Record(ZEROED, call, call + 5, 64, 64, client, OK))
      memory[64:128] = bytes(64)
    elif cuts and rng.random() < .03:
      logs[client].append(Record(CUT, call, client=client))
    else:
      logs[client].append(operation(rng, memory, k, call, client))
  return logs


def checked(checker, folder, data):
  path = os.path.join(folder, 'written.hist')
  with open(path, 'wb') as file:
    file.write(data)
  return checker.run(path)


def accepted(tap, checker, folder):
  for seed in range(12):
    rng, k, flags = random.Random(seed), seed % 4, seed % 8
    logs = random_logs(rng, k, cuts=seed > 5)
    process = checked(checker, folder, packed(logs, k, flags))
    tap.ok(process.returncode == 0, f'seed {seed}, k {k}, flags {flags}: is accepted', why(process))
  logs = random_logs(random.Random(1), 0, False)
  last = Record(READ, 10**6, 10**6 + 1, 0, 8, 0, OK, [1234567890123])
  process = checked(checker, folder, packed([*logs, [last]]))
  tap.ok(process.returncode == 1 and 'word at 0' in process.stdout, 'a read of what nobody wrote: not so',
         why(process))


def damaged(**fields):
  """The second record of a log, with fields that cannot be."""
  fields = {'kind': WRITE_ACK, 'call': 10, 'ret': 20, 'octets': 8, 'outcome': OK, 'words': [7], **fields}
  extra = {name: fields.pop(name) for name in ('count', 'zero', 'space') if name in fields}
  record = Record(**fields)
  for name, value in extra.items():
    setattr(record, name, value)
  return [Record(READ, 5, 9, 0, 8, 0, OK, [0]), record]


def refused(tap, checker, folder):
  for text, fields in (
      ('kind is 11', {'kind': 11}), ('outcome is 6', {'outcome': 6}),
      ('the octet behind status', {'zero': 1}),
      ('space is 4194304', {'space': 2**22}),
      ('call is', {'call': ALL_ONES, 'outcome': UNDER_WAY}),
      ('return is 20, and with outcome 0', {'outcome': UNDER_WAY}),
      ('return is 4, before the call', {'ret': 4}),
      ('return is', {'ret': ALL_ONES}), ('address is 0x1000000000000', {'address': 2**48}),
      ('octets is 0', {'octets': 0}),
      ('octets is 9: at least 1, to an address', {'address': 2**48 - 8, 'octets': 9}),
      ('octets is 16, and of an atomic', {'kind': CAS, 'octets': 16, 'words': [1, 2, 3]}),
      ('words is 2, and by', {'words': [7, 7]}), ('words is 0, and by', {'words': []}),
      ('return is 0, and with outcome 0', {'kind': CUT, 'ret': 0, 'outcome': UNDER_WAY, 'words': []}),
      ('octets is 0', {'kind': CUT, 'ret': ALL_ONES, 'outcome': UNDER_WAY, 'octets': 0, 'words': []}),
      ('words is 1', {'kind': UNKNOWN, 'ret': ALL_ONES, 'outcome': UNDER_WAY}),
      ('client is 2, and before', {'client': 2}), ('call is 4, before', {'call': 4}),
      ('the log ends within its words', {'octets': 32, 'count': 4})):
    process = checked(checker, folder, packed([[], damaged(**fields)]))
    tap.ok(process.returncode == 2 and f'log 1, record 1: {text}' in process.stderr
           and process.stderr.count('\n') == 1, f'{text}: is named', why(process))
  for text, data in (
      ('log 0 has 2 records and says 3', packed([damaged()], records=3)),
      ('k is 17', packed([damaged()], k=17)),
      ('flags is 0x8', packed([damaged()], flags=8)), ('logs is 0', packed([])),
      ('something stands behind', packed([damaged()]) + bytes(8)),
      ('version 2', packed([damaged()]).replace(b'\r\n\1', b'\r\n\2'))):
    process = checked(checker, folder, data)
    tap.ok(process.returncode == 2 and text in process.stderr, f'{text}: is named', why(process))


def main():
  tap, checker = Tap(), Checker(CHECK)
  with Folder() as folder:
    accepted(tap, checker, folder)
    refused(tap, checker, folder)
  tap.done()


main()
