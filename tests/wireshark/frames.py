# SPDX-License-Identifier: BSD-3-Clause
"""Link frames, blocks and messages by docs/wire-format.md alone, and the files that hold them: what the
dissector and the captures are tested with, made without the code that they come from."""
import struct
import zlib

ETHERTYPE = 0x88b5
HELLO, DATA, ACK, NACK, BYE, REFUSE, PROBE = range(1, 8)
FROM_SWITCH, POLL = 1, 2
EPOCH = 0x1234

RREQ, WREQ, WREQ_ACK, RMWREQ, RRES, MSG_ACK, ERR, GRET = range(1, 9)
CONTROL, WORD = 1, 2  # sync headers

# A block is (sync header, payload of 64 bits).


def reflected(poly):
  rows = []
  for i in range(256):
    for _ in range(8):
      i = i >> 1 ^ (poly if i & 1 else 0)
    rows.append(i)
  return rows


CRC16, CRC32C = reflected(0x8408), reflected(0x82f63b78)


def crc(rows, start, data):
  for octet in data:
    start = rows[(start ^ octet) & 0xff] ^ start >> 8
  return start


def crc16(data):
  return crc(CRC16, 0xffff, data) ^ 0xffff


def crc32c(data):
  return crc(CRC32C, 0xffffffff, data) ^ 0xffffffff


def octets(words):
  return struct.pack(f'<{len(words)}Q', *words)


def bits(**fields):
  """A word of fields: b8=5 is 5 from bit 8 on."""
  return sum(value << int(name[1:]) for name, value in fields.items())


def checked(words):
  """The CRC-16 in the last 16 bits."""
  return words[:-1] + [words[-1] | crc16(octets(words)[:-2]) << 48]


def long_message(ms, data, mt, check32=False):
  words = [ms, *data, mt]
  if check32:
    words = [ms, *data, crc32c(octets(words)), mt]
  words = checked(words)
  return [(CONTROL, words[0]), *((WORD, w) for w in words[1:-1]), (CONTROL, words[-1])]


def ms_of(kind, src, dst, ident, addr=0, last=0, ext=0):
  return bits(b0=0x1d, b8=kind, b12=dst, b21=src, b30=ident, b38=ext, b39=last, b40=addr & 0xffffff)


def rreq(src, dst, ident, addr, size, check32=False):
  mt = bits(b0=0xe2, b8=addr >> 24, b32=size - 1)
  return long_message(ms_of(RREQ, src, dst, ident, addr), [], mt, check32)


def cas(src, dst, ident, addr, old, new):
  return long_message(ms_of(RMWREQ, src, dst, ident, addr), [old, new], bits(b0=0xe2, b8=addr >> 24))


def chunk(kind, src, dst, ident, data, *, addr=0, offset=0, last=1, check32=False, key=None, epoch=0):
  padded = data + bytes(-len(data) % 8)
  words = list(struct.unpack(f'<{len(padded) // 8}Q', padded))
  extension = [] if key is None else [key, epoch]
  return long_message(ms_of(kind, src, dst, ident, addr, last, key is not None), extension + words,
                      bits(b0=0xe2, b8=addr >> 24, b32=offset // 16, b44=(len(data) - 1) % 8), check32)


def single(**fields):
  return [(CONTROL, checked([bits(**fields)])[0])]


def notify(dst, ident, size):
  return single(b0=0x56, b8=dst, b17=ident, b25=size - 1)


def grant(dst, ident, size, response=0):
  return single(b0=0xa9, b8=dst, b17=ident, b25=size - 1, b41=response)


def mst_ack(src, dst, ident):
  return single(b0=0x2e, b8=MSG_ACK, b12=dst, b21=src, b30=ident)


def mst_err(src, dst, ident, status, of):
  return single(b0=0x2e, b8=ERR, b12=dst, b21=src, b30=ident, b38=status, b42=of)


def mst_gap(src, dst, ident, applied):
  return single(b0=0x2e, b8=ERR, b12=dst, b21=src, b30=ident, b38=10, b42=applied // 4096)


def mst_gret(dst, ident, size, response=0, asked=0):
  return single(b0=0x2e, b8=GRET, b12=dst, b21=ident, b29=response, b30=size - 1, b46=asked)


TERMINATE = (0x87, 0x99, 0xaa, 0xb4, 0xcc, 0xd2, 0xe1, 0xff)


def ethernet(dst, src, ethertype, payload):
  """A frame with its FCS."""
  frame = dst + src + struct.pack('>H', ethertype) + payload
  frame += bytes(max(0, 60 - len(frame)))
  return frame + struct.pack('<I', zlib.crc32(frame))


def frame_blocks(frame, lane=0):
  """Of a frame with FCS: /S/ .. /T/ and the idle behind it."""
  blocks = [(CONTROL, 0xd555555555555578)] if lane == 0 else [(CONTROL, 0x5555550000000033)]
  body = frame if lane == 0 else bytes.fromhex('555555d5') + frame
  whole = len(body) // 8 * 8
  blocks += [(WORD, w) for w, in struct.iter_unpack('<Q', body[:whole])]
  rest = body[whole:]
  word = int.from_bytes(rest, 'little') << 8 | TERMINATE[len(rest)]
  return blocks + [(CONTROL, word), (CONTROL, 0x1e)]


def mac(link, of_switch):
  return bytes([2, 0x6d, 0x66, of_switch]) + struct.pack('>H', link)


def seal(head, body):
  """Writes the CRC into its place at octet 40."""
  value = crc32c(head[14:40] + bytes(4) + body)
  return head[:40] + struct.pack('<I', value) + body


def link_frame(kind, link, down, body=b'', *, blocks=0, seq=0, ack=0, limit=0, flags=0, epoch=EPOCH,
               version=1, ethertype=ETHERTYPE):
  head = mac(link, not down) + mac(link, down) + struct.pack('>H', ethertype)
  head += struct.pack('<BBHHIIIIHHI', version, kind, link, flags | (FROM_SWITCH if down else 0), epoch, seq,
                      ack, limit, blocks, len(body), 0)
  return seal(head, body)


def body_of(blocks):
  syncs = [0] * ((len(blocks) + 31) // 32)
  for i, (sync, _) in enumerate(blocks):
    syncs[i // 32] |= sync << 2 * (i % 32)
  return octets(syncs) + octets([word for _, word in blocks])


def with_epoch(frame, epoch):
  """A good frame of the connection EPOCH as one of another."""
  end = 44 + int.from_bytes(frame[38:40], 'little')
  if len(frame) < max(44, end) or frame[20:24] != struct.pack('<I', EPOCH):
    return frame
  if seal(frame[:44], frame[44:end]) != frame[:end]:
    return frame
  return seal(frame[:20] + struct.pack('<I', epoch) + frame[24:44], frame[44:end]) + frame[end:]


def data(link, down, seq, blocks, **more):
  return link_frame(DATA, link, down, body_of(blocks), blocks=len(blocks), seq=seq, **more)


def hello(link, down, epoch, partner, name, *, fabric=0xfab, features=3, period=2560, window=256, most=520,
          state=0, echo=0, first=0, node=0, took=0):
  body = struct.pack('<QQQQIHHHHIHH4x32s8x', epoch, partner, fabric, features, period, window, most, state,
                     echo, first, node, took, name.encode())
  return link_frame(HELLO, link, down, body, epoch=0)


def refuse(link, down, reason, have, got, epoch, version=1):
  body = struct.pack('<H6xQQQ', reason, have, got, epoch)
  return link_frame(REFUSE, link, down, body, epoch=0, version=version)


def bye(link, down, why, **more):
  return link_frame(BYE, link, down, struct.pack('<H6x', why), **more)


def probe(link, down, blocks, **more):
  return link_frame(PROBE, link, down, bytes(8 * ((blocks + 31) // 32 + blocks)), blocks=blocks, **more)


# Files


def write_pcap(path, frames, step=1000):
  """Frames in nanosecond pcap; an item of frames is octets, or (ns, octets)."""
  with open(path, 'wb') as file:
    file.write(struct.pack('<IHHiIII', 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
    at = 0
    for frame in frames:
      at, frame = frame if isinstance(frame, tuple) else (at + step, frame)
      file.write(struct.pack('<IIII', at // 10**9, at % 10**9, len(frame), len(frame)) + frame)


def read_pcap(path):
  """(ns, frame) of a nanosecond pcap."""
  with open(path, 'rb') as file:
    content = file.read()
  magic, major, minor, _, _, snap, link = struct.unpack_from('<IHHiIII', content)
  assert (magic, major, minor, snap, link) == (0xa1b23c4d, 2, 4, 65535, 1), content[:24]
  at = 24
  while at < len(content):
    seconds, ns, captured, length = struct.unpack_from('<IIII', content, at)
    assert captured == length
    yield seconds * 10**9 + ns, content[at + 16:at + 16 + length]
    at += 16 + length


class Pcapng:
  """A pcapng file: interfaces (names), frames (interface, ns, octets), statistics (received, dropped)."""

  def __init__(self, path):
    self.interfaces, self.frames, self.statistics = [], [], {}
    with open(path, 'rb') as file:
      content = file.read()
    at = 0
    while at < len(content):
      kind, length = struct.unpack_from('<II', content, at)
      assert length % 4 == 0 and struct.unpack_from('<I', content, at + length - 4)[0] == length, at
      self.take(kind, content[at + 8:at + length - 4])
      at += length

  def take(self, kind, body):
    if kind == 0x0a0d0d0a:
      assert struct.unpack_from('<IHHq', body) == (0x1a2b3c4d, 1, 0, -1)
    elif kind == 1:
      assert struct.unpack_from('<HHI', body) == (1, 0, 65535)
      options = dict(self.options(body[8:]))
      assert options[9] == b'\x09'
      self.interfaces.append(options[2].decode())
    elif kind == 6:
      interface, high, low, captured, length = struct.unpack_from('<IIIII', body)
      assert captured == length
      self.frames.append((interface, high << 32 | low, body[20:20 + length]))
    else:
      assert kind == 5, kind
      options = dict(self.options(body[12:]))
      self.statistics[struct.unpack_from('<I', body)[0]] = tuple(
        int.from_bytes(options[code], 'little') for code in (4, 5))

  @staticmethod
  def options(body):
    at = 0
    while True:
      code, length = struct.unpack_from('<HH', body, at)
      if code == 0:
        return
      yield code, body[at + 4:at + 4 + length]
      at += 4 + (length + 3) // 4 * 4


class Head:
  """The header of a link frame, its blocks if it is DATA, and whether its CRC is right."""

  def __init__(self, frame):
    self.dst, self.src, ethertype = struct.unpack_from('>6s6sH', frame)
    (self.version, self.kind, self.link, self.flags, self.epoch, self.seq, self.ack, self.limit, self.count,
     self.length, self.crc) = struct.unpack_from('<BBHHIIIIHHI', frame, 14)
    assert ethertype == ETHERTYPE, ethertype
    self.down = bool(self.flags & FROM_SWITCH)
    body = frame[44:44 + self.length]
    self.good = self.crc == crc32c(frame[14:40] + bytes(4) + body) and len(body) == self.length
    words = struct.unpack(f'<{len(body) // 8}Q', body)
    syncs, payloads = words[:len(words) - self.count], words[len(words) - self.count:]
    self.blocks = [(syncs[i // 32] >> 2 * (i % 32) & 3, word) for i, word in enumerate(payloads)]
