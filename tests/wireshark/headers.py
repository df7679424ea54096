#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of the dissector are those of the C headers: each of its tables, name by name, both ways."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
from emu import Tap  # noqa: E402

TABLE = re.compile(r'^-- headers: (\S+?\.h)(?:[:;] ([^\n]*))?\nlocal (\w+) = \{\n(.*?)^\}', re.M | re.S)
ENTRY = re.compile(r'^  (\w+) = (?:\{(\d+), (\d+)\}|(0x[0-9a-f]+|\d+)),$', re.M)

OCTETS = {'uint8_t': 1, 'char': 1, 'uint16_t': 2, 'uint32_t': 4, 'uint64_t': 8}

# What is in these headers, and no number of the format that the dissector shows.
LEFT_OUT = re.compile(
  r'MF_(PORTS_MAX|NODES_MAX|IDS|MESSAGE_MAX|OP_\w+|OPS|KINDS|KIND_NONE|RMW_OPS|RMW_ALL|OK|STATUSES'
  r'|STATUS_WORDS|ERR_PENDING|ERR_BUSY'
  r'|REQUEST_BLOCKS_MAX|SPAN_\w+|BLOCKS_FEW'
  r'|LINK_TYPES|LINK_REASONS|LINK_MAC|LINK_NAME|LINK_GOOD|LINK_FAULT_\w+|LINK_BLOCKS_MIN|LINK_MTU_MIN'
  r'|BEHIND_MAX|TAKE_SINCE_MAX|INCARNATION_MAX|TAKE_TELL|TAKE_HEARD|TAKE_ASK|TAKE_LOST|TAKES|\w+_USE_BITS'
  r'|NUMBER_BITS)$')


def tables(text):
  for header, what, name, body in TABLE.findall(text):
    numbers = {n: (int(a), int(b)) if a else int(c, 0) for n, a, b, c in ENTRY.findall(body)}
    assert len(numbers) == len(body.splitlines()), f'{name}: a line that is no entry'
    yield name, header, what, numbers


def without_comments(text):
  return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def layout(text):
  """#define NAME bit, width"""
  return {name: (int(bit), int(width))
          for name, bit, width in re.findall(r'^#define (\w+) (\d+), (\d+)\s*$', text, re.M)}


def value_of(text):
  text = text.strip()
  if match := re.fullmatch(r'(\d+) << (\d+)', text):
    return int(match[1]) << int(match[2])
  return int(text, 0) if re.fullmatch(r'0x[0-9a-fA-F]+|\d+', text) else None


def constants(text):
  """Numbers of #define and enum."""
  found = {name: value_of(value) for name, value in re.findall(r'^#define (MF_\w+) (\S+)\s*$', text, re.M)}
  for body in re.findall(r'\benum\s*\w*\s*\{(.*?)\}', text, re.S):
    value = -1
    for entry in filter(None, map(str.strip, body.split(','))):
      name, _, given = entry.partition('=')
      value = value_of(given) if given else value + 1
      found[name.strip()] = value
  return {n: v for n, v in found.items() if v is not None and n.startswith('MF_') and not LEFT_OUT.match(n)}


def struct_members(text, struct, sizes):
  """Where the members of a packed structure stand."""
  body = re.search(rf'struct {struct} \{{(.*?)\}} __attribute__\(\(packed\)\)', text, re.S)[1]
  at, members = 0, {}
  for kind, names in re.findall(r'^\s*(\w+) ([^;]+);', body, re.M):
    for name, count in re.findall(r'(\w+)(?:\[(\w+)\])?', names):
      octets = OCTETS[kind] * (sizes.get(count) or int(count) if count else 1)
      members[name] = (at, octets)
      at += octets
  return members


def expected(root, header, what):
  with open(os.path.join(root, header), encoding='utf-8') as file:
    text = without_comments(file.read())
  if header.endswith('proto_layout.h'):
    return layout(text)
  if what.startswith('struct'):
    sizes = dict((n, int(v)) for n, v in re.findall(r'^#define (MF_\w+) (\d+)\s*$', text, re.M))
    members = struct_members(text, what.split()[1], sizes)
    return {n: m for n, m in members.items() if n not in ('dst', 'src', 'ethertype')}
  return constants(text)


def main(root):
  tap = Tap()
  with open(os.path.join(root, 'tools/wireshark/memfab.lua'), encoding='utf-8') as file:
    text = file.read()
  found = list(tables(text))
  tap.ok(len(found) == text.count('-- headers:') >= 8, 'every table is found', [t[0] for t in found])
  for name, header, what, numbers in found:
    there = expected(root, header, what)
    differ = [f'{n}: dissector {numbers.get(n)}, header {there.get(n)}'
              for n in sorted(numbers.keys() | there.keys()) if numbers.get(n) != there.get(n)]
    tap.ok(numbers and not differ, f'{name} is as in {header}', '\n'.join(differ))
  tap.done()


main(sys.argv[1])
