# SPDX-License-Identifier: BSD-3-Clause
"""Files of histories (docs/history.md), and their check."""
import os
import random
import re
import struct
import subprocess

from emu import why

HEAD, LOG, RECORD = 72, 32, 48
READ, OK = 0, 1
IN_ORDER, LOSSLESS, TELLS = 1, 2, 4
MASK = 2**64 - 1


def hash64(x):
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
  x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
  return x ^ x >> 31


def sum_of(start, octets):
  for word, in struct.iter_unpack('<Q', octets):
    start = hash64(start + word & MASK)
  return start


def flags_of(path):
  with open(path, 'rb') as file:
    return struct.unpack_from('<I', file.read(HEAD), 28)[0]


def seal(data):
  """As docs/history.md has it."""
  logs = struct.unpack_from('<I', data, 12)[0]
  at = HEAD + logs * LOG
  for number in range(logs):
    words, = struct.unpack_from('<Q', data, HEAD + number * LOG)
    struct.pack_into('<Q', data, HEAD + number * LOG + 24, sum_of(1, data[at:at + 8 * words]))
    at += 8 * words
  struct.pack_into('<Q', data, 64, sum_of(sum_of(1, data[:64]), data[HEAD:HEAD + logs * LOG]))


def reads(data):
  """Where reads that have completed stand, with octets from a multiple of 8 on."""
  logs = struct.unpack_from('<I', data, 12)[0]
  at = HEAD + logs * LOG
  while at < len(data):
    address, length, _, node, kind, outcome = struct.unpack_from('<QQHHBB', data, at + 16)
    space, words = struct.unpack_from('<II', data, at + 40)
    if kind == READ and outcome == OK and words > 0 and address % 8 == 0 and length >= 8 * words:
      yield at, node, space, address
    at += RECORD + 8 * words


class Checker:
  def __init__(self, program):
    self.program = program

  def run(self, *files):
    return subprocess.run([self.program, *files], capture_output=True, text=True, timeout=600, check=False)

  def passes(self, tap, what, *files, least=20):
    process = self.run(*files)
    count = re.match(r'history: (\d+) operations', process.stdout)
    tap.ok(process.returncode == 0 and count is not None and int(count[1]) >= least,
           f'{what}: is linearizable', why(process))


def altered(tap, checker, what, folder, path):
  """One read found something else."""
  with open(path, 'rb') as file:
    data = bytearray(file.read())
  at, node, space, address = random.Random(6).choice(list(reads(data)))
  data[at + RECORD] ^= 0x10
  wrong = os.path.join(folder, 'wrong.hist')
  with open(wrong, 'wb') as file:
    file.write(data)
  process = checker.run(wrong)
  tap.ok(process.returncode == 2 and 'damaged' in process.stderr, f'{what}: one octet altered: is refused',
         why(process))
  seal(data)
  with open(wrong, 'wb') as file:
    file.write(data)
  process = checker.run(wrong)
  named = re.search(r'node (\d+), (?:space (0x[0-9a-f]+), )?word at (0x[0-9a-f]+|0):', process.stdout)
  tap.ok(process.returncode == 1 and named is not None and int(named[1]) == node
         and int(named[2] or '0', 16) == space and address <= int(named[3], 16) < address + 4096,
         f'{what}: sealed again: the word is named', why(process))
