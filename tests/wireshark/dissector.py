#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the dissector says of frames that are made here, by docs/wire-format.md: every kind of frame, block
and message, right and wrong."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
import frames as f  # noqa: E402
from emu import Tap  # noqa: E402
from tshark import Tshark, why_not  # noqa: E402

KEY = 0x1122334455667788
BYTES = bytes(range(1, 65))
BAD, GOOD = '0', '1'
MACS = bytes.fromhex('020000000001'), bytes.fromhex('020000000002')


FRAME_NUMBERS = {'memfab.' + name for name in (
  'original', 'begins', 'ends', 'request_in', 'response_in', 'demand_in', 'grant_in', 'used_in', 'sent_in')}


class Case:
  """Cases: some frames each, and what is asked of them. One run of tshark looks at many, since starting it
  takes longer than all else: so each case is a connection of its own."""

  def __init__(self, tap, tshark):
    self.tap, self.tshark, self.prefs, self.cases = tap, tshark, (), []

  def of(self, name, *frames, prefs=(), alone=False):
    if prefs != self.prefs or alone:
      self.ask()
    self.prefs = prefs
    epoch = f.EPOCH + len(self.cases)
    self.cases.append((name, [f.with_epoch(frame, epoch) for frame in frames], {}))
    return self

  def has(self, **expected):
    """Fields, all their values in each frame: a dot is two underscores."""
    return self.shows(**{'memfab__' + name: values for name, values in expected.items()})

  def shows(self, **expected):
    """The same of other protocols."""
    for name, values in expected.items():
      self.cases[-1][2][name.replace('__', '.')] = [
        [str(v) for v in value] if isinstance(value, list) else [] if value is None else [str(value)]
        for value in values]
    return self

  def says(self, *experts):
    """Expert informations, all of each frame, in any order."""
    self.cases[-1][2]['_ws.expert.message'] = [sorted(e) for e in experts]
    return self

  def ask(self):
    """Looks at what was asked so far."""
    if not self.cases:
      return
    path = self.tshark.path('case.pcap')
    f.write_pcap(path, [frame for _, frames, _ in self.cases for frame in frames])
    names = sorted({name for _, _, expected in self.cases for name in expected})
    rows = self.tshark.fields(path, names, prefs=self.prefs)
    before = 0
    for case, frames, expected in self.cases:
      for name, wanted in expected.items():
        found = [row[names.index(name)] for row in rows[before:before + len(frames)]]
        if name in FRAME_NUMBERS:
          found = [[str(int(v) - before) for v in values] for values in found]
        if name.startswith('_ws'):
          found = [sorted(values) for values in found]
        self.tap.ok(found == wanted, f'{case}: {name}', f'{found} != {wanted}\n{self.tshark.errors}')
      before += len(frames)
    self.cases = []


def link_frames(case):
  data = f.data(7, True, 5, f.grant(3, 2, 64), ack=9, limit=265)
  case.of('DATA', data).has(
    version=[1], type=[f.DATA], link=[7], flags__switch=[1], flags__poll=[0], direction=['down'],
    epoch=['0x00001234'], seq=[5], ack=[9], limit=[265], blocks=[1], length=[16], crc__status=[GOOD]).says([])
  case.of('ACK, NACK, POLL', f.link_frame(f.ACK, 1, False, ack=77), f.link_frame(f.NACK, 1, True, ack=78),
          f.link_frame(f.ACK, 1, False, flags=f.POLL)).has(
    type=[f.ACK, f.NACK, f.ACK], ack=[77, 78, 0], flags__poll=[0, 0, 1], direction=['up', 'down', 'up'],
    crc__status=[GOOD] * 3).says([], [], [])
  case.of('HELLO', f.hello(0, False, 10**18, 0, 'cn0', node=0),
          f.hello(0, True, 10**18 + 7, 10**18, 'sw0', node=0xffff, state=1, echo=3, first=4, took=171)).has(
    hello__epoch=[10**18, 10**18 + 7], hello__partner=[0, 10**18], hello__name=['cn0', 'sw0'],
    hello__fabric=['0x0000000000000fab'] * 2, hello__features__retransmits=[1, 1],
    hello__features__proves=[1, 1], hello__took=[0, 171], hello__period=[2560, 2560],
    hello__window=[256, 256], hello__blocks=[520, 520], hello__state__ready=[0, 1], hello__state__done=[0, 0],
    hello__echo=['0x0000', '0x0003'], hello__first=[0, 4], hello__node=[0, 0xffff]).says([], [])
  case.of('PROBE', f.probe(0, False, 520), f.probe(0, True, 1),
          f.link_frame(f.PROBE, 0, True, bytes(16), blocks=2)).has(
    type=[f.PROBE] * 3, blocks=[520, 1, 2], length=[4296, 16, 16], crc__status=[GOOD] * 3,
    body=[None, None, '00' * 16]).says([], [], ['The length of the body does not fit'])
  case.of('REFUSE, BYE', f.refuse(2, True, 3, 2560, 640, 99), f.bye(2, False, 2),
          f.refuse(2, True, 1, 2, 1, 5, version=2)).has(
    refuse__reason=[3, None, 1], refuse__have=[2560, None, 2], refuse__got=[640, None, 1],
    refuse__epoch=[99, None, 5], bye__leave=[None, 2, None], crc__status=[GOOD] * 3).says([], [], [])


def faults_of_frames(case):
  good = f.data(0, False, 0, f.notify(1, 0, 64))
  broken = good[:50] + bytes([good[50] ^ 1]) + good[51:]
  case.of('bad CRC', broken).has(crc__status=[BAD]).says(
    [f'CRC-32C should be 0x{f.crc32c(broken[14:40] + bytes(4) + broken[44:]):08x}'])
  case.of('shorter than a header', good[:40]).says(['Shorter than a header'])
  case.of('shorter than it says', good[:-8]).says(['Shorter than its header says'])
  case.of('padding', good + bytes(6)).has(padding=['000000000000'], crc__status=[GOOD])
  case.of('another version', f.data(0, False, 0, f.notify(1, 0, 64), version=2)).has(kind=[None]).says(
    ['Another version: all behind the flags may mean something else'])
  case.of('unknown type', f.link_frame(9, 0, False, b'abcdefgh')).has(body=['6162636465666768']).says(
    ['No link frame has this type'])
  case.of('length and blocks', f.link_frame(f.DATA, 0, False, bytes(16), blocks=2)).says(
    ['The length of the body does not fit'])
  other = f.data(0, False, 0, f.notify(1, 0, 64), ethertype=0x88b6)
  case.of('another EtherType', other).has(type=[None])
  case.of('another EtherType, told', other, prefs=['memfab.ethertype:34998']).has(type=[f.DATA], kind=[9])


def messages(case):
  addr = 0x123456789abc
  blocks = [f.rreq(1, 300, 7, addr, 65536), f.cas(1, 300, 8, addr & ~7, 5, 6),
            f.chunk(f.WREQ, 1, 300, 9, BYTES[:61], addr=addr),
            f.chunk(f.WREQ_ACK, 1, 300, 10, BYTES, addr=0, last=0),
            f.chunk(f.RRES, 300, 1, 7, BYTES, offset=4096, last=0)]
  case.of('messages of several blocks', *(f.data(1, False, i, b) for i, b in enumerate(blocks))).has(
    kind=[f.RREQ, f.RMWREQ, f.WREQ, f.WREQ_ACK, f.RRES], src=[1, 1, 1, 1, 300], dst=[300] * 4 + [1],
    id=[7, 8, 9, 10, 7], size=[65536, 8, 61, 64, 64], offset=[None, None, 0, 0, 4096],
    address=['0x0000123456789abc', '0x0000123456789ab8', '0x0000123456789abc', '0x0000000000000000', None],
    last=[None, None, 1, 0, 0], opcode=[None, 0, None, None, None],
    arg=[None, ['0x0000000000000005', '0x0000000000000006'], None, None, None],
    payload=[None, None, BYTES[:61].hex(), BYTES.hex(), BYTES.hex()], check__status=[GOOD] * 5,
    ms__kind=[1, 4, 2, 3, 5], ms__id=[7, 8, 9, 10, 7], ms__addr=[0x789abc, 0x789ab8, 0x789abc, 0, 0],
    mt__size=[65535, None, None, None, None], mt__offset=[None, None, 0, 0, 256],
    mt__tail=[None, None, 4, 7, 7],
    sent_in=[None] * 5).says(*[[]] * 5)
  blocks = [f.notify(300, 200, 1000), f.grant(300, 200, 256), f.grant(4, 3, 64, 1), f.mst_ack(300, 1, 10),
            f.mst_err(300, 1, 7, 1, f.RREQ), f.mst_gret(4, 3, 64, 1), f.mst_gret(4, 3, 64, asked=1)]
  case.of('messages of one block', *(f.data(1, True, i, b) for i, b in enumerate(blocks))).has(
    kind=[9, 10, 10, 6, 7, 8, 8], dst=[300, 300, 4, 1, 1, 4, 4],
    src=[None, None, None, 300, 300, None, None],
    id=[200, 200, 3, 10, 7, 3, 3], size=[1000, 256, 64, None, None, 64, 64],
    status=[None] * 4 + [1, None, None], ng__size=[999, 255, 63] + [None] * 4,
    g__resp=[None, 0, 1] + [None] * 4,
    err__of=[None] * 4 + [1, None, None], gret__resp=[None] * 5 + [1, 0], gret__size=[None] * 5 + [63, 63],
    gret__asked=[None] * 5 + [0, 1], check__status=[GOOD] * 7).says(*[[]] * 7)


def spaces(case):
  slot, number, space = 200, 0xfedcba98, 0x2abcde
  ask = [4 | slot << 8 | number << 16, 1 << 48 | 3 << 52 | 65536]
  good = f.long_message(f.ms_of(f.RMWREQ, 1, 2, 3, ext=1), [KEY, space << 36, *ask], f.bits(b0=0xe2, b32=9))
  bad = [f.long_message(f.ms_of(f.RMWREQ, 1, 2, 3), [first, 0], f.bits(b0=0xe2, b32=9))
         for first in (11, 1 << 48, 1 << 63)]
  case.of('a task of a space', f.data(1, False, 0, good), alone=True).has(
    opcode=[9], task=[4], task__slot=[slot], task__number=[number], size=[16], key=[f'0x{KEY:016x}'],
    ext__number=[space], arg=[[f'0x{a:016x}' for a in ask]]).says([])
  case.of('no task of a space', *(f.data(1, False, i, b) for i, b in enumerate(bad))).has(
    opcode=[9] * 3).says(*[['no task of a space']] * 3)


def calls(case):
  """The words of the good one are those of tests/proto/test_message.c."""
  good = [(f.CONTROL, 0x12345856a580341d), *((f.WORD, w) for w in (
    0x1122334455667788, 0x000600500001beef, 0x0000deadbeef0201, 64)), (f.CONTROL, 0x29f4005a400000e2)]
  bad = [f.long_message(f.ms_of(f.RMWREQ, 1, 2, 3), [first, 8], f.bits(b0=0xe2, b32=10, b36=size))
         for first, size in ((2, 2), (1 << 48, 2), (0, 0))]
  case.of('a call', f.data(1, False, 0, good), alone=True).has(
    opcode=[10], call=[1], task__slot=[2], task__number=[0xdeadbeef], size=[80],
    key=['0x1122334455667788'], ext__number=[3 << 13 | 5]).says([])
  case.of('no call', *(f.data(1, False, i, b) for i, b in enumerate(bad))).has(
    opcode=[10] * 3).says(['no such call'], ['no such call'], ['a call without a response'])


def extensions(case):
  blocks = [f.chunk(f.WREQ, 1, 2, 0, BYTES, key=KEY, epoch=0x4321),
            f.chunk(f.WREQ, 1, 2, 1, BYTES[:9], check32=True), f.rreq(1, 2, 2, 64, 64, check32=True)]
  case.of('key, CRC-32C', *(f.data(1, False, i, b) for i, b in enumerate(blocks)), alone=True).has(
    key=[f'0x{KEY:016x}', None, None], ext__epoch=[0x4321, None, None],
    payload=[BYTES.hex(), BYTES[:9].hex(), None],
    check32__status=[None, GOOD, GOOD], size=[64, 9, 64]).says([], [], [])
  damaged = list(blocks[1])
  damaged[-2] = (f.WORD, damaged[-2][1] ^ 1)
  words = [w for _, w in damaged]
  words[-1] &= 2**48 - 1
  damaged = [(s, w) for (s, _), w in zip(damaged, f.checked(words))]
  case.ask()  # messages with a CRC-32C have been seen: where there is one, all have it
  case.of('bad CRC-32C', f.data(1, False, 0, damaged), prefs=['memfab.check32:always']).has(
    check32__status=[BAD], check__status=[GOOD])


def faults_of_messages(case):
  read = f.rreq(1, 2, 0, 0, 64)
  wrong = [read[0], (f.CONTROL, read[1][1] ^ 1 << 40)]
  case.of('bad check', f.data(1, False, 0, wrong)).has(check__status=[BAD]).says(
    [f'CRC-16 should be 0x{f.crc16(f.octets([w for _, w in wrong])[:-2]):04x}'])
  unknown = f.long_message(f.ms_of(14, 2, 1, 0), [5], 0xe2)
  case.of('unknown kind', f.data(1, False, 0, unknown)).has(data=['0500000000000000'], kind=[14]).says(
    ['No kind of message has this number'])
  case.of('zero bits', f.data(1, False, 0, f.single(b0=0xa9, b8=2, b25=63, b42=1))).says(
    ['G_SPARE is not zero'])
  longer = f.long_message(f.ms_of(f.RREQ, 1, 2, 0), [5], f.bits(b0=0xe2, b32=63))
  case.of('blocks that do not fit', f.data(1, False, 0, longer)).says(
    ['the number of blocks does not fit the kind'])
  rmw = f.long_message(f.ms_of(f.RMWREQ, 1, 2, 0), [5], f.bits(b0=0xe2, b32=11))
  case.of('opcode', f.data(1, False, 0, rmw)).says(['unknown opcode'])
  case.of('short chunk', f.data(1, False, 0, f.chunk(f.RRES, 1, 2, 0, BYTES[:9], last=0))).says(
    ['not the last chunk, and no multiple of 16 octets'])


def streams(case):
  write = f.chunk(f.WREQ, 1, 2, 3, BYTES, addr=0x1000)
  one, two, three = (f.data(1, False, i, b) for i, b in enumerate((write[:4], write[4:9], write[9:])))
  elsewhere = f.data(2, False, 0, f.notify(1, 0, 8))
  case.of('a message in three frames', one, elsewhere, two, three).has(
    kind=[None, 9, None, 2], begins=[None, None, None, 1], ends=[4, None, 4, None],
    payload=[None, None, None, BYTES.hex()], check__status=[None, GOOD, None, GOOD]).says([], [], [], [])
  inside = write[:4] + f.grant(9, 1, 64) + [(f.CONTROL, 0x1e)] + write[4:]
  case.of('a grant and a hole in a message', f.data(1, True, 0, inside)).has(
    kind=[['10', '2']], payload=[BYTES.hex()], check__status=[[GOOD, GOOD]], begins=[1]).says([])
  case.of('a message that is cut', f.data(1, False, 0, write[:4] + f.rreq(1, 2, 0, 0, 8))).has(kind=[1]).says(
    ['Cut: another message begins'])
  case.of('an /MT/ alone', f.data(1, False, 0, write[-1:])).says(['Blocks that belong to nothing'])
  case.of('blocks of no kind', f.data(1, False, 0, [(f.CONTROL, 0x77), (3, 0)])).says(
    ['No block of the standard or of memfab'] * 2)
  case.of('ordered sets', f.data(1, False, 0, [(f.CONTROL, 0x4b), (f.CONTROL, 0x55), (f.CONTROL, 0x2d)])).has(
    block=[['0x4b', '0x55', '0x2d']]).says([])


def numbers(case):
  first, second, third = (f.data(1, False, i, f.notify(2, i, 8)) for i in range(3))
  other = f.data(1, False, 0, f.notify(2, 7, 8))
  case.of('sent again', first, second, first, third).has(original=[None, None, 1, None]).says(
    [], [], ['Sent again'], [])
  case.of('sent again, changed', first, second, other).has(original=[None, None, 1]).says(
    [], [], ['Sent again, but not the same octets'])
  wrap = [f.data(1, False, n % 2**32, f.notify(2, 0, 8)) for n in range(2**32 - 2, 2**32 + 2)]
  case.of('wrap', *wrap).has(original=[None] * 4, missing=[None] * 4).says([], [], [], [])
  case.of('a gap', first, third).has(missing=[None, 1]).says([], ['Frames are missing before this one'])
  write = f.chunk(f.WREQ, 1, 2, 3, BYTES)
  zero, one, two = (f.data(1, False, i, b) for i, b in enumerate((write[:4], write[4:], f.notify(2, 1, 8))))
  case.of('a gap that is closed', zero, two, one, two).has(
    missing=[None, 1, None, None], kind=[None, 9, 2, 9], begins=[None, None, 1, None],
    original=[None, None, None, 2])
  case.of('another connection', first, f.data(1, False, 0, f.notify(2, 0, 8), epoch=5)).has(
    original=[None, None]).says([], [])


def conversations(case):
  up, down = (lambda n, b: f.data(1, False, n, b)), (lambda n, b: f.data(1, True, n, b))
  case.of('read', up(0, f.rreq(1, 2, 9, 0, 128)), down(0, f.chunk(f.RRES, 2, 1, 9, BYTES, last=0)),
          down(1, f.chunk(f.RRES, 2, 1, 9, BYTES, offset=64))).has(
    response_in=[3, None, None], request_in=[None, 1, 1],
    response_time=[None, '0.000001000', '0.000002000'])
  case.of('write', up(0, f.notify(2, 4, 128)), down(0, f.grant(2, 4, 64)),
          up(1, f.chunk(f.WREQ_ACK, 1, 2, 4, BYTES, last=0)), down(1, f.grant(2, 4, 64)),
          up(2, f.chunk(f.WREQ_ACK, 1, 2, 4, BYTES, offset=64)), down(2, f.mst_ack(2, 1, 4))).has(
    demand_in=[None, 1, None, 1, None, None], used_in=[None, 3, None, 5, None, None],
    grant_in=[None, None, 2, None, 4, None],
    grant_time=[None, '0.000001000', None, '0.000003000', None, None],
    request_in=[None] * 5 + [5], response_time=[None] * 5 + ['0.000001000'])
  memory_up, memory_down = (lambda n, b: f.data(2, False, n, b)), (lambda n, b: f.data(2, True, n, b))
  case.of('at the memory', up(0, f.rreq(1, 2, 0, 0, 128)), memory_down(0, f.rreq(1, 2, 0, 0, 128)),
          memory_up(0, f.chunk(f.RRES, 2, 1, 0, BYTES, last=0)), memory_down(1, f.grant(1, 0, 64, 1)),
          memory_up(1, f.chunk(f.RRES, 2, 1, 0, BYTES, offset=64))).has(
    sent_in=[None, 1, None, None, None], forward_time=[None, '0.000001000', None, None, None],
    request_in=[None, None, 2, None, 2], demand_in=[None, None, None, 2, None], grant_in=[None] * 4 + [4])
  case.of('a gap is told', up(0, f.chunk(f.WREQ_ACK, 1, 2, 4, BYTES)), down(0, f.mst_gap(2, 1, 4, 8192)),
          down(1, f.mst_ack(2, 1, 4))).has(
    response_in=[3, None, None], request_in=[None, None, 1], status=[None, 10, None]).says([], [], [])
  case.of('refused', up(0, f.cas(1, 2, 3, 4, 0, 1)), down(0, f.mst_err(2, 1, 3, 2, f.RMWREQ))).has(
    response_in=[2, None], request_in=[None, 1], status=[None, 2])
  case.of('restarted', up(0, f.rreq(1, 2, 0, 0, 64)), down(0, f.mst_err(2, 1, 0, 8, 0)),
          down(1, f.chunk(f.RRES, 2, 1, 0, BYTES)), down(2, f.mst_err(2, 1, 3, 8, f.RREQ))).has(
    response_in=[3, None, None, None], request_in=[None, None, 1, None], status=[None, 8, None, 8]).says(
    [], [], [], [])
  case.of('a life is known', up(0, f.rreq(1, 2, 0, 0, 64)), up(1, f.mst_err(1, 2, 7, 9, 0)),
          down(0, f.chunk(f.RRES, 2, 1, 0, BYTES))).has(
    response_in=[3, None, None], request_in=[None, None, 1], status=[None, 9, None]).says(
    [], [], [])
  case.of('given back', down(0, f.grant(2, 1, 64)), up(0, f.mst_gret(2, 1, 64))).has(
    used_in=[2, None], grant_in=[None, 1])


def encapsulated(case):
  frame = f.ethernet(MACS[0], MACS[1], 0x0800, bytes.fromhex(
    '450000300000000040113ac40a0000010a000002') + struct.pack('>HHHH', 4000, 4001, 28, 0) + bytes(20))
  for lane in (0, 4):
    blocks = f.frame_blocks(frame, lane)
    case.of(f'a frame from lane {lane}', f.data(1, False, 0, blocks)).shows(
      udp__srcport=[4000], eth__fcs=['0x' + frame[-4:].hex()]).says([])
  preempted = blocks[:3] + f.rreq(1, 2, 0, 0, 64) + blocks[3:5]
  case.of('a frame that is preempted', f.data(1, False, 0, preempted), f.data(1, False, 1, blocks[5:])).has(
    kind=[1, None], ends=[[2, 2], None], begins=[None, 1]).shows(udp__srcport=[None, 4000])
  case.of('a frame that is cut', f.data(1, False, 0, blocks[:3] + blocks)).says(
    ['Cut: another block comes before its end'])
  inner = f.ethernet(MACS[0], MACS[1], f.ETHERTYPE, f.data(9, True, 9, f.notify(2, 0, 8))[14:])
  case.of('a link frame in a frame', f.data(1, False, 0, f.frame_blocks(inner)),
          f.data(1, False, 1, f.notify(2, 0, 8))).has(
    link=[1, 1], kind=[None, 9]).says([], [])


def damaged(rng, frame):
  """Some octets are others, it may be cut or longer, and its CRC may be right all the same."""
  frame = bytearray(frame)
  for _ in range(rng.choice((1, 1, 2, 8, 50))):
    frame[rng.randrange(14, len(frame))] = rng.randrange(256)
  frame = bytes(frame) + rng.randbytes(rng.choice((0, 0, 0, 5)))
  if rng.random() < 0.3:
    return frame[:rng.randrange(14, len(frame))]
  end = 44 + int.from_bytes(frame[38:40], 'little')
  if rng.random() < 0.3 or end > len(frame):
    return frame
  return f.seal(frame[:44], frame[44:end]) + frame[end:]


def garbage(tap, tshark):
  """Nothing of what is wrong makes the dissector fail."""
  seed = 20261122
  rng = random.Random(seed)
  frame = f.ethernet(MACS[0], MACS[1], 0x88b6, BYTES)
  good = [f.hello(0, False, 1, 2, 'cn0'), f.refuse(0, True, 1, 2, 3, 4), f.bye(0, False, 1)] + [
    f.data(0, bool(i % 2), i // 2, b) for i, b in enumerate((
      f.rreq(0, 1, 0, 0, 64), f.cas(0, 1, 1, 0, 1, 2), f.chunk(f.RRES, 1, 0, 0, BYTES), f.notify(1, 2, 64),
      f.grant(1, 2, 64), f.mst_err(1, 0, 1, 1, 1), f.frame_blocks(frame), f.frame_blocks(frame, 4),
      f.chunk(f.WREQ, 0, 1, 0, BYTES, key=KEY), f.chunk(f.WREQ, 0, 1, 0, BYTES, check32=True)))]
  frames = [damaged(rng, rng.choice(good)) for _ in range(1500)]
  path = tshark.path('garbage.pcap')
  f.write_pcap(path, frames)
  rows = tshark.fields(path, ['_ws.lua.error', '_ws.malformed', 'memfab.expert.short', 'memfab.kind',
                              'memfab.frame'])
  # A frame within may well be malformed.
  failed = [i for i, row in enumerate(rows) if row[0] or (row[1] and not row[2] and not row[4])]
  tap.ok(len(rows) == len(frames) and not failed and tshark.errors == '',
         f'garbage, seed {seed}: nothing fails',
         f'{[(i, frames[i].hex()) for i in failed[:3]]}\n{tshark.errors}')
  tap.ok(sum(bool(row[3]) for row in rows) > 100, 'garbage: much of it is dissected')


def main(root):
  tap = Tap()
  reason = why_not()
  if reason:
    tap.skip('dissector', reason)
    tap.done()
  with Tshark(root) as tshark:
    case = Case(tap, tshark)
    for part in (link_frames, faults_of_frames, messages, spaces, calls, extensions, faults_of_messages,
                 streams, numbers, conversations, encapsulated):
      part(case)
    case.ask()
    garbage(tap, tshark)
  tap.done()


if __name__ == '__main__':
  main(sys.argv[1])
