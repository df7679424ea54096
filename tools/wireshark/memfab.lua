-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark's dissector of memfab's link frames, their blocks and messages: docs/wire-format.md says what
-- they are, docs/captures.md how to use this.

local memfab = Proto("memfab", "memfab link")

-- Numbers of the format. tests/wireshark/headers.py compares these tables, name by name, with the C headers
-- that the programs are built from.

-- headers: lib/systems/edm/proto/proto_layout.h: first bit and width of a field within a block
local LAYOUT = {
  MSG_CHECK = {48, 16},
  MS_KIND = {8, 4},
  MS_DST = {12, 9},
  MS_SRC = {21, 9},
  MS_ID = {30, 8},
  MS_EXT = {38, 1},
  MS_LAST = {39, 1},
  MS_ADDR = {40, 24},
  MT_ADDR = {8, 24},
  MT_SIZE = {32, 16},
  MT_OP = {32, 4},
  MT_ANSWER = {36, 12},
  MT_OFFSET = {32, 12},
  MT_TAIL = {44, 3},
  MT_CHUNK_SPARE = {47, 1},
  NG_DST = {8, 9},
  NG_ID = {17, 8},
  NG_SIZE = {25, 16},
  N_MORE = {41, 1},
  N_SPARE = {42, 4},
  N_MEGA = {46, 1},
  N_EXT = {47, 1},
  G_RESP = {41, 1},
  G_SPARE = {42, 6},
  ERR_STATUS = {38, 4},
  ERR_OF = {42, 4},
  ERR_USE = {46, 2},
  ERR_INCARNATION = {42, 6},
  ERR_APPLIED = {42, 4},
  ACK_USE = {38, 10},
  GRET_ID = {21, 8},
  GRET_RESP = {29, 1},
  GRET_SIZE = {30, 16},
  GRET_ASKED = {46, 1},
  GRET_SPARE = {47, 1},
  TAKE_EPOCH = {12, 16},
  TAKE_WHAT = {28, 2},
  TAKE_OF = {30, 14},
  TAKE_SPARE = {44, 4},
  EXT_EPOCH = {0, 16},
  EXT_AGAIN = {16, 8},
  EXT_FROM = {24, 12},
  EXT_NUMBER = {36, 28},
  MSG_CRC32 = {0, 32},
  MSG_CRC32_SPARE = {32, 32},
}

-- headers: lib/pcs/mf_block.h
local BLOCK = {
  MF_SYNC_DATA = 2,
  MF_SYNC_CTRL = 1,
  MF_BT_C = 0x1e,
  MF_BT_C_O4 = 0x2d,
  MF_BT_C_S4 = 0x33,
  MF_BT_O_S4 = 0x66,
  MF_BT_O_O4 = 0x55,
  MF_BT_S = 0x78,
  MF_BT_O_C = 0x4b,
  MF_BT_T0 = 0x87,
  MF_BT_T1 = 0x99,
  MF_BT_T2 = 0xaa,
  MF_BT_T3 = 0xb4,
  MF_BT_T4 = 0xcc,
  MF_BT_T5 = 0xd2,
  MF_BT_T6 = 0xe1,
  MF_BT_T7 = 0xff,
  MF_BT_MS = 0x1d,
  MF_BT_MT = 0xe2,
  MF_BT_MST = 0x2e,
  MF_BT_N = 0x56,
  MF_BT_G = 0xa9,
}

-- headers: lib/systems/edm/proto/mf_proto.h
local PROTO = {
  MF_CHUNK_UNIT = 16,
  MF_BEHIND_UNIT = 256,
  MF_GAP_UNIT = 4096,
  MF_EXT_BLOCKS = 2,
  MF_RREQ = 1,
  MF_WREQ = 2,
  MF_WREQ_ACK = 3,
  MF_RMWREQ = 4,
  MF_RRES = 5,
  MF_ACK = 6,
  MF_ERR = 7,
  MF_GRET = 8,
  MF_NOTIFY = 9,
  MF_GRANT = 10,
  MF_TAKE = 11,
  MF_GRET_RETURNED = 0,
  MF_GRET_ASKED = 1,
}

-- headers: lib/op/mf_op.h
local OP = {
  MF_RMW_CAS = 0,
  MF_RMW_FADD = 1,
  MF_RMW_SWAP = 2,
  MF_RMW_FOR = 3,
  MF_RMW_FAND = 4,
  MF_RMW_ATTACH = 5,
  MF_RMW_CLAIM = 6,
  MF_RMW_RELEASE = 7,
  MF_RMW_SHARE = 8,
  MF_RMW_SPACE = 9,
  MF_RMW_CALL = 10,
  MF_SPACE_ANSWER = 16,
  MF_CALL_HEAD = 16,
  MF_CALL_UNIT = 16,
  MF_ERR_RANGE = 1,
  MF_ERR_ALIGN = 2,
  MF_ERR_OPCODE = 3,
  MF_ERR_RESOURCE = 4,
  MF_ERR_TIMEOUT = 5,
  MF_ERR_UNKNOWN = 6,
  MF_ERR_KEY = 7,
  MF_ERR_RESTARTED = 8,
  MF_ERR_INCARNATION = 9,
  MF_ERR_GAP = 10,
}

-- headers: lib/link/mf_link_frame.h; then of its structures the place and octets of each member
local LINK = {
  MF_LINK_VERSION = 1,
  MF_LINK_ETHERTYPE = 0x88b5,
  MF_LINK_HELLO = 1,
  MF_LINK_DATA = 2,
  MF_LINK_ACK = 3,
  MF_LINK_NACK = 4,
  MF_LINK_BYE = 5,
  MF_LINK_REFUSE = 6,
  MF_LINK_PROBE = 7,
  MF_LINK_FROM_SWITCH = 1,
  MF_LINK_POLL = 2,
  MF_LINK_RETRANSMITS = 1,
  MF_LINK_PROVES = 2,
  MF_LINK_READY = 1,
  MF_LINK_DONE = 2,
  MF_LINK_NODE_SWITCH = 0xffff,
  MF_LINK_REASON_VERSION = 1,
  MF_LINK_REASON_FABRIC = 2,
  MF_LINK_REASON_RATE = 3,
  MF_LINK_REASON_STALE = 4,
  MF_LINK_REASON_LINK = 5,
  MF_LINK_REASON_FEATURES = 6,
  MF_LINK_REASON_MTU = 7,
  MF_LINK_LEFT = 1,
  MF_LINK_GAVE_UP = 2,
}

-- headers: lib/link/mf_link_frame.h: struct mf_link_head
local HEAD = {
  version = {14, 1},
  type = {15, 1},
  link = {16, 2},
  flags = {18, 2},
  epoch = {20, 4},
  seq = {24, 4},
  ack = {28, 4},
  limit = {32, 4},
  blocks = {36, 2},
  length = {38, 2},
  crc = {40, 4},
}

-- headers: lib/link/mf_link_frame.h: struct mf_link_hello
local HELLO = {
  epoch = {0, 8},
  partner = {8, 8},
  fabric = {16, 8},
  features = {24, 8},
  period = {32, 4},
  window = {36, 2},
  blocks = {38, 2},
  state = {40, 2},
  echo = {42, 2},
  first = {44, 4},
  node = {48, 2},
  took = {50, 2},
  thread = {52, 4},
  name = {56, 32},
  host = {88, 8},
}

-- headers: lib/link/mf_link_frame.h: struct mf_link_refuse
local REFUSE = {
  reason = {0, 2},
  zero = {2, 6},
  have = {8, 8},
  got = {16, 8},
  epoch = {24, 8},
}

-- headers: lib/link/mf_link_frame.h: struct mf_link_bye
local BYE = {
  leave = {0, 2},
  zero = {2, 6},
}

local function size_of(members)
  local size = 0
  for _, place in pairs(members) do
    size = math.max(size, place[1] + place[2])
  end
  return size
end
local HEAD_END = size_of(HEAD)

local KINDS = {
  [PROTO.MF_RREQ] = "RREQ",
  [PROTO.MF_WREQ] = "WREQ",
  [PROTO.MF_WREQ_ACK] = "WREQ_ACK",
  [PROTO.MF_RMWREQ] = "RMWREQ",
  [PROTO.MF_RRES] = "RRES",
  [PROTO.MF_ACK] = "ACK",
  [PROTO.MF_ERR] = "ERR",
  [PROTO.MF_GRET] = "GRET",
  [PROTO.MF_TAKE] = "TAKE",
  [PROTO.MF_NOTIFY] = "/N/",
  [PROTO.MF_GRANT] = "/G/",
}
local TAKES = {[0] = "tells", [1] = "heard", [2] = "asks", [3] = "lost"}
local OPCODES = {
  [OP.MF_RMW_CAS] = "cas",
  [OP.MF_RMW_FADD] = "fadd",
  [OP.MF_RMW_SWAP] = "swap",
  [OP.MF_RMW_FOR] = "for",
  [OP.MF_RMW_FAND] = "fand",
  [OP.MF_RMW_ATTACH] = "attach",
  [OP.MF_RMW_CLAIM] = "claim",
  [OP.MF_RMW_RELEASE] = "release",
  [OP.MF_RMW_SHARE] = "share",
  [OP.MF_RMW_SPACE] = "space",
  [OP.MF_RMW_CALL] = "call",
}
-- What is asked of a space: enum mf_space_task in lib/memory/mf_space.h.
local TASKS = {[0] = "make", "end", "join", "grant", "allocate", "free", "protect", "fence", "renew",
               "life", "usage"}
-- What a memory node is called for: enum mf_call in lib/memory/mf_call.h.
local CALLS = {[0] = "echo", "echo_fenced"}
local STATUSES = {
  [OP.MF_ERR_RANGE] = "range",
  [OP.MF_ERR_ALIGN] = "align",
  [OP.MF_ERR_OPCODE] = "opcode",
  [OP.MF_ERR_RESOURCE] = "resource",
  [OP.MF_ERR_TIMEOUT] = "timeout",
  [OP.MF_ERR_UNKNOWN] = "unknown",
  [OP.MF_ERR_KEY] = "key",
  [OP.MF_ERR_RESTARTED] = "restarted",
  [OP.MF_ERR_INCARNATION] = "life",
  [OP.MF_ERR_GAP] = "gap",
}

-- Octets: everything is little endian. `at` counts from 1, as strings do.

local function number(s, at, octets)
  local value = 0
  for i = at + octets - 1, at, -1 do
    value = value * 256 + s:byte(i)
  end
  return value
end

-- Bits of the word that begins at `at`; at most 48 of them.
local function bits(s, at, first, width)
  local octet, shift = math.floor(first / 8), first % 8
  local value = number(s, at + octet, math.floor((first + width - 1) / 8) - octet + 1)
  return math.floor(value / 2 ^ shift) % 2 ^ width
end

local function field_of(s, at, name)
  return bits(s, at, LAYOUT[name][1], LAYOUT[name][2])
end

-- A word, or six octets of it, as text: they do not fit into Lua's numbers.
local function hex(s, at, octets)
  local text = {}
  for i = at + octets - 1, at, -1 do
    text[#text + 1] = string.format("%02x", s:byte(i))
  end
  return "0x" .. table.concat(text)
end

-- Checks: reflected polynomials, a table each.

local function crc_table(poly)
  local row = {}
  for i = 0, 255 do
    local c = i
    for _ = 1, 8 do
      c = c % 2 == 1 and bit.bxor(bit.rshift(c, 1), poly) or bit.rshift(c, 1)
    end
    row[i] = c
  end
  return row
end

local CRC16, CRC32C = crc_table(0x8408), crc_table(0x82f63b78)

local function crc_add(row, crc, s, first, last)
  local bxor, band, rshift, byte = bit.bxor, bit.band, bit.rshift, string.byte
  for i = first, last do
    crc = bxor(row[band(bxor(crc, byte(s, i)), 255)], rshift(crc, 8))
  end
  return crc
end

-- CRC-16/X-25, which stands in the last two octets.
local function crc16_of(s)
  return bit.bxor(crc_add(CRC16, 0xffff, s, 1, #s - 2), 0xffff) % 65536
end

local function crc32c_of(...)
  local crc = 0xffffffff
  for _, s in ipairs({...}) do
    crc = crc_add(CRC32C, crc, s, 1, #s)
  end
  return bit.bnot(crc) % 2 ^ 32
end

-- Fields

local fields = {} -- by the end of their names: "msg.kind"

local function field(kind, name, ...)
  assert(not fields[name], name)
  fields[name] = ProtoField[kind]("memfab." .. name, ...)
end

local TYPES = {
  [LINK.MF_LINK_HELLO] = "HELLO",
  [LINK.MF_LINK_DATA] = "DATA",
  [LINK.MF_LINK_ACK] = "ACK",
  [LINK.MF_LINK_NACK] = "NACK",
  [LINK.MF_LINK_BYE] = "BYE",
  [LINK.MF_LINK_REFUSE] = "REFUSE",
  [LINK.MF_LINK_PROBE] = "PROBE",
}
local REASONS = {
  [LINK.MF_LINK_REASON_VERSION] = "another version of the link frames",
  [LINK.MF_LINK_REASON_FABRIC] = "another fabric file",
  [LINK.MF_LINK_REASON_RATE] = "another rate of the link",
  [LINK.MF_LINK_REASON_STALE] = "a stale epoch",
  [LINK.MF_LINK_REASON_LINK] = "a link that is not on this port",
  [LINK.MF_LINK_REASON_FEATURES] = "other features",
  [LINK.MF_LINK_REASON_MTU] = "an MTU that is too low",
}
local LEAVES = {[LINK.MF_LINK_LEFT] = "left", [LINK.MF_LINK_GAVE_UP] = "gave up"}
local STATUS = {[0] = "Bad", [1] = "Good"}
local FLIT_KINDS = {[1] = "PROTOCOL", [2] = "DATA", [3] = "CONTROL"}

field("uint8", "version", "Version", base.DEC)
field("uint8", "type", "Type", base.DEC, TYPES)
field("uint16", "link", "Link", base.DEC)
field("uint16", "flags", "Flags", base.HEX)
field("bool", "flags.switch", "Sent by the switch's end", 16, nil, LINK.MF_LINK_FROM_SWITCH)
field("bool", "flags.poll", "Poll", 16, nil, LINK.MF_LINK_POLL)
field("uint16", "flags.zero", "Zero", base.HEX, nil, 0xfffc)
field("string", "direction", "Direction")
field("uint32", "epoch", "Epoch", base.HEX)
field("uint32", "seq", "Sequence number", base.DEC)
field("uint32", "ack", "Acknowledged up to", base.DEC)
field("uint32", "limit", "Limit", base.DEC)
field("uint16", "blocks", "Blocks", base.DEC)
field("uint16", "length", "Length of the body", base.DEC)
field("uint32", "crc", "CRC-32C", base.HEX)
field("uint8", "crc.status", "CRC-32C status", base.DEC, STATUS)
field("bytes", "body", "Body")
field("bytes", "padding", "Padding")
field("framenum", "original", "First sent in frame", base.NONE, frametype.DUP_ACK)
field("uint32", "missing", "Frames missing before this one", base.DEC)

field("uint64", "hello.epoch", "Epoch of this end", base.DEC)
field("uint64", "hello.partner", "Epoch of the partner", base.DEC)
field("uint64", "hello.fabric", "Hash of the fabric", base.HEX)
field("uint64", "hello.features", "Features", base.HEX)
field("bool", "hello.features.retransmits", "Retransmission", 64, nil, LINK.MF_LINK_RETRANSMITS)
field("bool", "hello.features.proves", "A PROBE has to pass", 64, nil, LINK.MF_LINK_PROVES)
field("uint32", "hello.period", "Block period, ps", base.DEC)
field("uint16", "hello.window", "Window, frames", base.DEC)
field("uint16", "hello.blocks", "Most blocks of a frame", base.DEC)
field("uint16", "hello.state", "State", base.HEX)
field("bool", "hello.state.ready", "Ready", 16, nil, LINK.MF_LINK_READY)
field("bool", "hello.state.done", "Done", 16, nil, LINK.MF_LINK_DONE)
field("uint16", "hello.echo", "State of the partner", base.HEX)
field("uint32", "hello.first", "First sequence number", base.DEC)
field("uint16", "hello.node", "Node", base.DEC, {[LINK.MF_LINK_NODE_SWITCH] = "switch"})
field("uint16", "hello.took", "Blocks of the longest PROBE that came", base.DEC)
field("uint32", "hello.thread", "Thread that polls", base.DEC)
field("string", "hello.name", "Name")
field("uint64", "hello.host", "Hash of host and thread", base.HEX)
field("uint16", "refuse.reason", "Reason", base.DEC, REASONS)
field("bytes", "refuse.zero", "Zero")
field("uint64", "refuse.have", "What the one that refuses has", base.DEC_HEX)
field("uint64", "refuse.got", "What the HELLO said", base.DEC_HEX)
field("uint64", "refuse.epoch", "Epoch of the HELLO", base.DEC)
field("uint16", "bye.leave", "Why", base.DEC, LEAVES)
field("bytes", "bye.zero", "Zero")

-- Blocks that belong together, and single ones.
for _, n in ipairs({"message", "frame", "idle", "rest", "stray", "unknown", "error", "ordered", "ms", "mt",
  "mst", "n", "g", "start", "end"}) do
  field("none", n, n)
end
field("bytes", "sync", "Sync headers")
field("uint8", "block", "Block type", base.HEX, {
  [BLOCK.MF_BT_C] = "C0..C7",
  [BLOCK.MF_BT_C_O4] = "C0..C3, O4",
  [BLOCK.MF_BT_C_S4] = "C0..C3, /S/ in lane 4",
  [BLOCK.MF_BT_O_S4] = "O0, /S/ in lane 4",
  [BLOCK.MF_BT_O_O4] = "O0, O4",
  [BLOCK.MF_BT_S] = "/S/",
  [BLOCK.MF_BT_O_C] = "O0, C4..C7",
  [BLOCK.MF_BT_T0] = "/T0/",
  [BLOCK.MF_BT_T1] = "/T1/",
  [BLOCK.MF_BT_T2] = "/T2/",
  [BLOCK.MF_BT_T3] = "/T3/",
  [BLOCK.MF_BT_T4] = "/T4/",
  [BLOCK.MF_BT_T5] = "/T5/",
  [BLOCK.MF_BT_T6] = "/T6/",
  [BLOCK.MF_BT_T7] = "/T7/",
  [BLOCK.MF_BT_MS] = "/MS/",
  [BLOCK.MF_BT_MT] = "/MT/",
  [BLOCK.MF_BT_MST] = "/MST/",
  [BLOCK.MF_BT_N] = "/N/",
  [BLOCK.MF_BT_G] = "/G/",
})
field("bytes", "data", "Data")

-- What a message says, whatever its kind and wherever it stands in it.
field("uint8", "kind", "Kind", base.DEC, KINDS)
field("uint16", "src", "Source", base.DEC)
field("uint16", "dst", "Destination", base.DEC)
field("uint8", "id", "Id", base.DEC)
field("uint64", "address", "Address", base.HEX)
field("uint32", "size", "Size, octets", base.DEC)
field("uint32", "offset", "Offset, octets", base.DEC)
field("bool", "last", "Last chunk")
field("uint8", "opcode", "Opcode", base.DEC, OPCODES)
field("uint8", "task", "Task of the space", base.DEC, TASKS)
field("uint8", "call", "Call", base.DEC, CALLS)
field("uint8", "task.slot", "Slot of the task", base.DEC)
field("uint32", "task.number", "Number of the task in its slot", base.DEC)
field("uint8", "status", "Status", base.DEC, STATUSES)
field("uint64", "arg", "Argument", base.HEX)
field("uint64", "key", "Key", base.HEX)
field("uint16", "check", "CRC-16", base.HEX)
field("uint8", "check.status", "CRC-16 status", base.DEC, STATUS)
field("uint32", "check32", "CRC-32C of the message", base.HEX)
field("uint8", "check32.status", "CRC-32C status", base.DEC, STATUS)
field("bytes", "payload", "Payload")

field("uint8", "flit.kind", "Kind of the flit", base.DEC, FLIT_KINDS)
field("uint16", "flit.seq", "Sequence number of the flit", base.DEC)

-- Of its pieces, and of what belongs together.
field("framenum", "begins", "Begins in frame", base.NONE)
field("framenum", "ends", "Ends in frame", base.NONE)
field("framenum", "request_in", "Request in frame", base.NONE, frametype.REQUEST)
field("framenum", "response_in", "Response in frame", base.NONE, frametype.RESPONSE)
field("relative_time", "response_time", "Time since the request")
field("framenum", "demand_in", "Demand in frame", base.NONE, frametype.REQUEST)
field("framenum", "grant_in", "Grant in frame", base.NONE, frametype.RESPONSE)
field("relative_time", "grant_time", "Time since the demand")
field("framenum", "used_in", "Used in frame", base.NONE)
field("framenum", "sent_in", "Sent in frame", base.NONE)
field("relative_time", "forward_time", "Time since it was sent")

-- Where the bits stand. {field of LAYOUT, title, names}
local NAMES = {
  {"MS_KIND", "Kind", KINDS},
  {"MS_DST", "Destination"},
  {"MS_SRC", "Source"},
  {"MS_ID", "Id"},
  {"MS_EXT", "Extended"},
  {"MS_LAST", "Last chunk; of a read: a piece of a transfer, and not the last"},
  {"MS_ADDR", "Address, low"},
  {"MT_ADDR", "Address, high"},
  {"MT_SIZE", "Size, minus one"},
  {"MT_OP", "Opcode", OPCODES},
  {"MT_ANSWER", "Octets of the response to a call, in 16 octets; of others zero"},
  {"MT_OFFSET", "Offset, in 16 octets"},
  {"MT_TAIL", "Octets in the last data block, minus one"},
  {"MT_CHUNK_SPARE", "Zero"},
  {"NG_DST", "Destination of the message"},
  {"NG_ID", "Id of the message"},
  {"NG_SIZE", "Size, minus one"},
  {"N_MORE", "A piece of a transfer, and not the last: the size is what is behind it"},
  {"N_SPARE", "Reserved"},
  {"N_MEGA", "Wire octets of several writes"},
  {"N_EXT", "Extended chunks"},
  {"G_RESP", "Grants a response"},
  {"G_SPARE", "Zero"},
  {"ERR_STATUS", "Status", STATUSES},
  {"ERR_OF", "Kind of the request", KINDS},
  {"ERR_USE", "Use of the id, low bits"},
  {"ERR_INCARNATION", "Incarnation, high bits"},
  {"ERR_APPLIED", "Applied of the write, in 4,096 octets"},
  {"ACK_USE", "Use of the id, low bits"},
  {"GRET_ID", "Id of the grant"},
  {"GRET_RESP", "Granted a response"},
  {"GRET_SIZE", "Size, minus one"},
  {"GRET_ASKED", "Asks or answers whether the chunk is still to come"},
  {"GRET_SPARE", "Zero"},
  {"TAKE_EPOCH", "Epoch of the switch that is obeyed"},
  {"TAKE_WHAT", "What of it", TAKES},
  {"TAKE_OF", "Epochs since it forgot, life, or who lost the switch"},
  {"TAKE_SPARE", "Zero"},
  {"EXT_EPOCH", "Use of the id"},
  {"EXT_AGAIN", "Times that it was sent before"},
  {"EXT_FROM", "Offset of the first octet asked for, in 16 octets"},
  {"EXT_NUMBER", "Number among the messages of its pair, or of the space"},
  {"MSG_CHECK", "CRC-16"},
  {"MSG_CRC32", "CRC-32C"},
  {"MSG_CRC32_SPARE", "Zero"},
}

-- The filter of a field: "ERR_OF" is "err.of". What users may have saved keeps its name.
local FILTERS = {ERR_INCARNATION = "err.life"}
local function filter_of(name)
  return FILTERS[name] or (name:lower():gsub("_", ".", 1))
end

for _, n in ipairs(NAMES) do
  field(LAYOUT[n[1]][2] > 32 and "uint64" or "uint32", filter_of(n[1]), n[2],
    n[3] and base.DEC or base.DEC_HEX, n[3])
end

local expert = {
  crc = ProtoExpert.new("memfab.expert.crc", "CRC-32C is bad", expert.group.CHECKSUM, expert.severity.ERROR),
  check = ProtoExpert.new("memfab.expert.check", "Check of the message is bad", expert.group.CHECKSUM,
    expert.severity.ERROR),
  short = ProtoExpert.new("memfab.expert.short", "Frame is too short", expert.group.MALFORMED,
    expert.severity.ERROR),
  unknown = ProtoExpert.new("memfab.expert.unknown", "Unknown kind", expert.group.UNDECODED,
    expert.severity.WARN),
  format = ProtoExpert.new("memfab.expert.format", "Not as the format has it", expert.group.PROTOCOL,
    expert.severity.WARN),
  again = ProtoExpert.new("memfab.expert.again", "Sent again", expert.group.SEQUENCE,
    expert.severity.NOTE),
  gap = ProtoExpert.new("memfab.expert.gap", "Frames are missing before this one", expert.group.SEQUENCE,
    expert.severity.WARN),
  cut = ProtoExpert.new("memfab.expert.cut", "Cut", expert.group.SEQUENCE, expert.severity.WARN),
}

local prefs = memfab.prefs
prefs.ethertype = Pref.uint("EtherType", LINK.MF_LINK_ETHERTYPE, "EtherType of the link frames")
prefs.check32 = Pref.enum("Messages have a CRC-32C", 0, 'Fabrics with "check": 32', {
  {1, "as the messages look", 0},
  {2, "always", 1},
  {3, "never", 2},
}, false)

-- All that is known of the capture; begun anew with each one.
local session

function memfab.init()
  session = {
    frames = {}, -- by number: what a frame held
    streams = {}, -- by link and direction: what is under way
    talks = {}, -- what waits for its answer
    check32 = false, -- a message had one
  }
end

-- Messages: from octets to what they say.

local CHUNKS = {[PROTO.MF_WREQ] = true, [PROTO.MF_WREQ_ACK] = true, [PROTO.MF_RRES] = true}

local function zero(m, s, at, name)
  if field_of(s, at, name) ~= 0 then
    m.problems[#m.problems + 1] = name .. " is not zero"
  end
end

-- A piece of a transfer, and not the last: whole, and what stands in the place of its size is behind it.
local function piece(m)
  m.behind, m.size = (m.size - 1) * PROTO.MF_BEHIND_UNIT, 65536
  if m.behind == 0 or m.mega then
    m.problems[#m.problems + 1] = "a piece of a transfer without anything behind it"
  end
end

-- Whether the last data block is a CRC-32C, and whether it is the right one.
local function look_at_crc32(m, s)
  local at = #s - 15
  m.crc32_is = crc32c_of(s:sub(1, -17), s:sub(-8, -3) .. "\0\0")
  m.crc32_good = m.crc32_is == field_of(s, at, "MSG_CRC32")
  if prefs.check32 == 0 then
    return session.check32 or (m.crc32_good and field_of(s, at, "MSG_CRC32_SPARE") == 0)
  end
  return prefs.check32 == 1
end

local TWO_ARGUMENTS = {[OP.MF_RMW_CAS] = true, [OP.MF_RMW_SPACE] = true, [OP.MF_RMW_CALL] = true}

-- A call has a slot and a number as a task has; of one that the fast path does they are 0.
local function decode_call(m, s, first)
  m.size = field_of(s, #s - 7, "MT_ANSWER") * OP.MF_CALL_UNIT
  if m.size == 0 then
    m.problems[#m.problems + 1] = "a call without a response"
  end
  if #s >= first + 7 then
    m.call, m.task_slot, m.task_number = s:byte(first), s:byte(first + 1), number(s, first + 2, 4)
    if not CALLS[m.call] or s:byte(first + 6) ~= 0 or s:byte(first + 7) ~= 0 then
      m.problems[#m.problems + 1] = "no such call"
    end
  end
end

local function decode_rmwreq(m, s, at)
  m.op = field_of(s, #s - 7, "MT_OP")
  m.args = {}
  for i = 1, TWO_ARGUMENTS[m.op] and 2 or 1 do
    m.args[i] = at
    at = at + 8
  end
  m.size = m.op == OP.MF_RMW_SPACE and OP.MF_SPACE_ANSWER or 8
  if m.op == OP.MF_RMW_SPACE and #s >= m.args[1] + 7 then
    local first = m.args[1]
    m.task, m.task_slot, m.task_number = s:byte(first), s:byte(first + 1), number(s, first + 2, 4)
    if not TASKS[m.task] or s:byte(first + 6) ~= 0 or s:byte(first + 7) ~= 0 then
      m.problems[#m.problems + 1] = "no task of a space"
    end
  end
  if m.op == OP.MF_RMW_CALL then
    decode_call(m, s, m.args[1])
  else
    zero(m, s, #s - 7, "MT_ANSWER")
  end
  if not OPCODES[m.op] then
    m.problems[#m.problems + 1] = "unknown opcode"
  end
  return at
end

local function decode_chunk(m, s, at)
  local last = #s - 7 - (m.crc32 and 8 or 0)
  m.offset = field_of(s, #s - 7, "MT_OFFSET") * PROTO.MF_CHUNK_UNIT
  m.last = field_of(s, 1, "MS_LAST") == 1
  zero(m, s, #s - 7, "MT_CHUNK_SPARE")
  if last <= at then
    m.problems[#m.problems + 1] = "no payload"
    return at
  end
  m.size = last - at - 7 + field_of(s, #s - 7, "MT_TAIL")
  m.payload = at
  if s:sub(at + m.size, last - 1):find("[^%z]") then
    m.problems[#m.problems + 1] = "the rest of the last data block is not zero"
  end
  if not m.last and m.size % PROTO.MF_CHUNK_UNIT ~= 0 then
    m.problems[#m.problems + 1] = "not the last chunk, and no multiple of 16 octets"
  end
  return last
end

local function decode_requests(m, s, at)
  if m.kind == PROTO.MF_RMWREQ then
    at = decode_rmwreq(m, s, at)
  else
    m.size = field_of(s, #s - 7, "MT_SIZE") + 1
  end
  if m.kind == PROTO.MF_RREQ and field_of(s, 1, "MS_LAST") == 1 then
    piece(m)
  else
    zero(m, s, 1, "MS_LAST")
  end
  return at
end

-- A whole message /MS/ .. /MT/.
local function decode_long(s)
  local m = {problems = {}, blocks = #s / 8}
  local at, extras = 9, m.blocks - 2
  m.kind, m.dst, m.src = field_of(s, 1, "MS_KIND"), field_of(s, 1, "MS_DST"), field_of(s, 1, "MS_SRC")
  m.id, m.ext = field_of(s, 1, "MS_ID"), field_of(s, 1, "MS_EXT") == 1
  m.crc32 = extras > 0 and look_at_crc32(m, s)
  if m.ext and extras >= PROTO.MF_EXT_BLOCKS then
    m.key = at
    if m.kind == PROTO.MF_RRES then
      zero(m, s, at + 8, "EXT_NUMBER")
    end
    at = at + 8 * PROTO.MF_EXT_BLOCKS
  end
  if m.crc32 then
    zero(m, s, #s - 15, "MSG_CRC32_SPARE")
  end
  if CHUNKS[m.kind] then
    at = decode_chunk(m, s, at)
  elseif m.kind == PROTO.MF_RREQ or m.kind == PROTO.MF_RMWREQ then
    at = decode_requests(m, s, at)
  else
    m.unknown = true
    return m
  end
  if at ~= #s - 7 - (m.crc32 and 8 or 0) then
    m.problems[#m.problems + 1] = "the number of blocks does not fit the kind"
  end
  m.addressed = m.kind ~= PROTO.MF_RRES
  if not m.addressed and (field_of(s, 1, "MS_ADDR") ~= 0 or field_of(s, #s - 7, "MT_ADDR") ~= 0) then
    m.problems[#m.problems + 1] = "a response has no address"
  end
  return m
end

local function decode_mst(m, s)
  m.kind = field_of(s, 1, "MS_KIND")
  if m.kind == PROTO.MF_TAKE then
    m.epoch = field_of(s, 1, "TAKE_EPOCH")
    m.take, m.of = field_of(s, 1, "TAKE_WHAT"), field_of(s, 1, "TAKE_OF")
    if m.take == 2 and m.epoch ~= 0 then
      m.problems[#m.problems + 1] = "who does not know the epoch tells one"
    end
    zero(m, s, 1, "TAKE_SPARE")
    return
  end
  m.dst = field_of(s, 1, "MS_DST")
  if m.kind == PROTO.MF_GRET then
    m.id, m.resp = field_of(s, 1, "GRET_ID"), field_of(s, 1, "GRET_RESP") == 1
    m.size = field_of(s, 1, "GRET_SIZE") + 1
    zero(m, s, 1, "GRET_SPARE")
    return
  end
  m.src, m.id = field_of(s, 1, "MS_SRC"), field_of(s, 1, "MS_ID")
  if m.kind == PROTO.MF_ERR then
    m.status = field_of(s, 1, "ERR_STATUS")
    m.of_incarnation = m.status == OP.MF_ERR_RESTARTED or m.status == OP.MF_ERR_INCARNATION
    if m.of_incarnation then -- of no request
      m.of, m.incarnation = 0, field_of(s, 1, "ERR_INCARNATION") * 256 + m.id
    elseif m.status == OP.MF_ERR_GAP then
      m.of, m.applied = 0, field_of(s, 1, "ERR_APPLIED") * PROTO.MF_GAP_UNIT
    else
      m.of = field_of(s, 1, "ERR_OF")
    end
    if not STATUSES[m.status] then
      m.problems[#m.problems + 1] = "unknown status"
    end
  elseif m.kind ~= PROTO.MF_ACK then
    m.unknown = true
  end
end

local function decode_single(s)
  local m = {problems = {}, blocks = 1, single = s:byte(1)}
  if m.single == BLOCK.MF_BT_MST then
    decode_mst(m, s)
    return m
  end
  m.dst, m.id, m.size = field_of(s, 1, "NG_DST"), field_of(s, 1, "NG_ID"), field_of(s, 1, "NG_SIZE") + 1
  if m.single == BLOCK.MF_BT_N then
    m.kind, m.mega = PROTO.MF_NOTIFY, field_of(s, 1, "N_MEGA") == 1
    if field_of(s, 1, "N_MORE") == 1 then
      piece(m)
    end
    zero(m, s, 1, "N_SPARE")
  else
    m.kind, m.resp = PROTO.MF_GRANT, field_of(s, 1, "G_RESP") == 1
    zero(m, s, 1, "G_SPARE")
  end
  return m
end

-- The flits of the stack `cxl` are messages of blocks, too: their octets are those that no type takes.
local FLITS = {[9] = 68, [33] = 256} -- by blocks

local function flit_of(s)
  local octets = FLITS[#s / 8]
  local flit = octets and s:sub(2, 8) .. s:sub(9, -9) .. s:sub(-7)
  if octets == 68 then
    return crc_add(CRC16, 0xffff, flit:sub(1, 66) .. "\0\0\0\0", 1, 70) % 65536 == number(flit, 67, 2) and
      flit:sub(1, 68)
  elseif octets == 256 then
    return crc32c_of(flit:sub(1, 120)) == number(flit, 243, 4) and
      crc32c_of(flit:sub(121, 242) .. string.rep("\0", 6)) == number(flit, 247, 4) and flit:sub(1, 256)
  end
end

local function decode(s)
  local m = #s == 8 and decode_single(s) or decode_long(s)
  m.good = crc16_of(s) == field_of(s, #s - 7, "MSG_CHECK") and (not m.crc32 or m.crc32_good)
  session.check32 = session.check32 or (m.good and m.crc32 or false)
  local flit = not m.good and flit_of(s)
  if flit then
    return {flit = flit, flit_kind = number(flit, 1, 1) % 16, flit_seq = math.floor(number(flit, 1, 2) / 16)}
  end
  return m
end

local function summary(m, s)
  if m.flit then
    return string.format("CXL flit, %d B, %s %d", #m.flit, FLIT_KINDS[m.flit_kind] or "?", m.flit_seq)
  end
  local text = {KINDS[m.kind] or string.format("kind %d", m.kind)}
  if m.kind == PROTO.MF_TAKE then
    text[#text + 1] = TAKES[m.take] .. " epoch " .. m.epoch
  elseif m.src then
    text[#text + 1] = string.format("%d -> %d id %d", m.src, m.dst, m.id)
  else
    text[#text + 1] = string.format("for %d id %d", m.dst, m.id or 0)
  end
  if m.op then
    text[#text + 1] = OPCODES[m.op] or "?"
    if m.task then
      text[#text + 1] = string.format("%s slot %d number %d", TASKS[m.task] or "?", m.task_slot,
                                       m.task_number)
    elseif m.call then
      text[#text + 1] = CALLS[m.call] or "?"
    end
  end
  if m.size then
    text[#text + 1] = m.size .. " B"
    if m.behind then
      text[#text + 1] = string.format("and %d B behind", m.behind)
    end
  end
  if m.resp then
    text[#text + 1] = "of the response"
  end
  if m.status then
    text[#text + 1] = STATUSES[m.status] or "?"
  end
  if m.incarnation and m.incarnation ~= 0 then
    text[#text + 1] = (m.status == OP.MF_ERR_INCARNATION and "" or "life ") .. m.incarnation
  end
  if m.applied then
    text[#text + 1] = "behind " .. m.applied .. " B"
  end
  if m.addressed then
    text[#text + 1] = "at " .. hex(s, #s - 6, 3) .. hex(s, 6, 3):sub(3)
  end
  if m.offset and not (m.offset == 0 and m.last) then
    text[#text + 1] = string.format("offset %d%s", m.offset, m.last and ", last" or "")
  end
  if not m.good then
    text[#text + 1] = "[bad check]"
  end
  return table.concat(text, " ")
end

-- Conversations: each is followed on one link and connection, by the nodes that it is between and its id.

local function talk_key(what, stream, compute, memory, id)
  return string.format("%s %d %d %d %d %d", what, stream.link, stream.epoch, compute, memory, id)
end

local function talk(key)
  session.talks[key] = session.talks[key] or {grants = {}}
  return session.talks[key]
end

-- A grant is used by the next chunk that it lets go, or comes back.
local function use_grant(t, m)
  local grant = table.remove(t.grants, 1)
  if grant then
    m.grant, grant.used = grant, m
  end
end

local function respond(m, t, over)
  if t.request then
    m.request, t.request.response = t.request, m
  end
  if over then
    t.request = nil
  end
end

local FOLLOW = {
  [PROTO.MF_NOTIFY] = function(m, stream)
    talk(talk_key("w", stream, stream.link, m.dst, m.id)).demand = m
  end,
  [PROTO.MF_GRANT] = function(m, stream)
    local t = m.resp and talk(talk_key("r", stream, m.dst, stream.link, m.id)) or
      talk(talk_key("w", stream, stream.link, m.dst, m.id))
    m.demand = m.resp and t.request or t.demand
    table.insert(t.grants, m)
  end,
  [PROTO.MF_GRET] = function(m, stream)
    use_grant(m.resp and talk(talk_key("r", stream, m.dst, stream.link, m.id)) or
      talk(talk_key("w", stream, stream.link, m.dst, m.id)), m)
  end,
  [PROTO.MF_RREQ] = function(m, stream)
    session.talks[talk_key("r", stream, m.src, m.dst, m.id)] = {request = m, grants = {}}
  end,
  [PROTO.MF_WREQ] = function(m, stream)
    local t = talk(talk_key("w", stream, m.src, m.dst, m.id))
    use_grant(t, m)
    t.request = m
  end,
  [PROTO.MF_RRES] = function(m, stream)
    local t = talk(talk_key("r", stream, m.dst, m.src, m.id))
    -- The first grant is the request itself, so chunks are more than grants: the last ones are granted.
    if m.offset ~= 0 then
      use_grant(t, m)
    end
    respond(m, t, m.last)
  end,
  [PROTO.MF_ACK] = function(m, stream)
    respond(m, talk(talk_key("w", stream, m.dst, m.src, m.id)), true)
  end,
  [PROTO.MF_ERR] = function(m, stream)
    if m.of_incarnation or m.applied then -- of no request, or of one that goes on
      return
    end
    local write = m.of == PROTO.MF_WREQ or m.of == PROTO.MF_WREQ_ACK
    respond(m, talk(talk_key(write and "w" or "r", stream, m.dst, m.src, m.id)), true)
  end,
}
FOLLOW[PROTO.MF_RMWREQ] = FOLLOW[PROTO.MF_RREQ]
FOLLOW[PROTO.MF_WREQ_ACK] = FOLLOW[PROTO.MF_WREQ]

-- What a node sends to the switch comes out of it at another link.
local function forward(m, down)
  if not m.src or m.of_incarnation then
    return
  end
  local key = string.format("f %d %d %d %d %d", m.kind, m.src, m.dst, m.id, m.offset or 0)
  if not down then
    session.talks[key] = m
  elseif session.talks[key] then
    m.sent = session.talks[key]
    session.talks[key] = nil
  end
end

local function follow(m, stream, number, time)
  m.number, m.time = number, time
  if m.good and not m.flit and not m.unknown and m.kind ~= PROTO.MF_TAKE and #m.problems == 0 then
    FOLLOW[m.kind](m, stream)
    forward(m, stream.down)
  end
end

-- Blocks: from a stream of them to messages and frames, as lib/pcs/demux.c and frame_dec.c do it.

local SINGLES = {[BLOCK.MF_BT_MST] = true, [BLOCK.MF_BT_N] = true, [BLOCK.MF_BT_G] = true}
local STARTS = {[BLOCK.MF_BT_S] = 0, [BLOCK.MF_BT_C_S4] = 4, [BLOCK.MF_BT_O_S4] = 4} -- lanes
local ENDS = { -- octets in front of the /T/
  [BLOCK.MF_BT_T0] = 0,
  [BLOCK.MF_BT_T1] = 1,
  [BLOCK.MF_BT_T2] = 2,
  [BLOCK.MF_BT_T3] = 3,
  [BLOCK.MF_BT_T4] = 4,
  [BLOCK.MF_BT_T5] = 5,
  [BLOCK.MF_BT_T6] = 6,
  [BLOCK.MF_BT_T7] = 7,
}
local ORDERED = {[BLOCK.MF_BT_C_O4] = true, [BLOCK.MF_BT_O_O4] = true, [BLOCK.MF_BT_O_C] = true}
local IDLE = string.char(BLOCK.MF_BT_C) .. string.rep("\0", 7)

local PREAMBLE = 8 -- octets, the start character included
local FRAME_MIN = 18 -- octets that Wireshark wants: header and FCS

-- A frame with its FCS, of the octets of its blocks.
local function frame_of(s)
  local front = PREAMBLE + STARTS[s:byte(1)]
  local last = s:sub(-8)
  return (s:sub(1, -9) .. last:sub(2, 1 + ENDS[last:byte(1)])):sub(front + 1)
end

-- Takes the blocks of a link frame apart. `stream` is what is under way, and is moved on. Returns the pieces,
-- in their order: each is a run of blocks that belong to one thing, which may have others.
local function take_apart(stream, number, raw, syncs, words, count)
  local pieces, piece = {}, nil

  local function octets_of(p)
    return p.octets or raw:sub(words + 8 * p.first, words + 8 * p.last + 7)
  end

  local function add(thing, i)
    if not piece or piece.thing ~= thing or piece.last ~= i - 1 then
      piece = {thing = thing, first = i, begins = #thing.pieces == 0, number = number}
      pieces[#pieces + 1] = piece
      thing.pieces[#thing.pieces + 1] = piece
    end
    piece.last = i
  end

  local function new(what, i)
    local thing = {what = what, pieces = {}}
    add(thing, i)
    return thing
  end

  local function cut(name, why)
    if stream[name] then
      stream[name].cut = why
      stream[name] = nil
    end
  end

  local function finish(thing)
    local octets = {}
    for i, p in ipairs(thing.pieces) do
      octets[i] = octets_of(p)
    end
    octets = table.concat(octets)
    piece.ends, thing.done = true, number
    if #thing.pieces > 1 then
      thing.octets = octets
    end
    for _, p in ipairs(thing.pieces) do
      p.octets = nil
    end
    if thing.what == "frame" then
      thing.frame = frame_of(octets)
    else
      thing.message = decode(octets)
      thing.text = summary(thing.message, octets)
      if stream.time then
        follow(thing.message, stream, number, stream.time)
      end
    end
    piece = nil -- what follows is another thing
  end

  -- Of nothing that is under way. `before` says what may be, of which the beginning was not seen.
  local function take_other(i, before)
    local what = before and "rest" or "stray"
    if not piece or piece.thing.what ~= what then
      new(what, i)
    else
      piece.last = i
    end
  end

  local function take_data(i)
    if stream.message then
      add(stream.message, i)
    elseif stream.frame then
      add(stream.frame, i)
    else
      take_other(i, stream.message_before or stream.frame_before)
    end
  end

  local function take_memory(i, kind)
    if SINGLES[kind] then
      finish(new("message", i))
    elseif kind == BLOCK.MF_BT_MS then
      cut("message", "another message begins")
      stream.message = new("message", i)
      stream.message_before = nil
    elseif stream.message then
      add(stream.message, i)
      local thing = stream.message
      stream.message = nil
      finish(thing)
    else
      take_other(i, stream.message_before)
      stream.message_before = nil
    end
  end

  local function take_control(i, kind)
    if raw:sub(words + 8 * i, words + 8 * i + 7) == IDLE then
      if not stream.message then
        cut("frame", "idle within it")
      end
      new("idle", i)
      return
    end
    cut("message", "a block of a frame comes before its end")
    if ENDS[kind] and stream.frame then
      add(stream.frame, i)
      local thing = stream.frame
      stream.frame = nil
      finish(thing)
      return
    end
    cut("frame", "another block comes before its end")
    if STARTS[kind] then
      stream.frame = new("frame", i)
      stream.frame_before = nil
    elseif ENDS[kind] then
      take_other(i, stream.frame_before)
      stream.frame_before = nil
    else
      new(ORDERED[kind] and "ordered" or kind == BLOCK.MF_BT_C and "error" or "unknown", i)
    end
  end

  for i = 0, count - 1 do
    local sync = bits(raw, syncs + 8 * math.floor(i / 32), i % 32 * 2, 2)
    local kind = raw:byte(words + 8 * i)
    if sync == BLOCK.MF_SYNC_DATA then
      take_data(i)
    elseif sync ~= BLOCK.MF_SYNC_CTRL then
      cut("message", "a bad sync header comes before its end")
      cut("frame", "a bad sync header comes before its end")
      new("unknown", i)
    elseif SINGLES[kind] or kind == BLOCK.MF_BT_MS or kind == BLOCK.MF_BT_MT then
      take_memory(i, kind)
    else
      take_control(i, kind)
    end
  end
  for _, p in ipairs(pieces) do
    if p.thing == stream.message or p.thing == stream.frame then
      p.octets = octets_of(p)
    end
  end
  return pieces
end

-- A stream that is not known from its beginning: something may be under way in it.
local function begin_within(head)
  return {link = head.link, down = head.down, message_before = true, frame_before = true}
end

-- Streams: the DATA frames of a link and direction, by their numbers.

-- Those that the receiver waits for go on with `main`. One that is ahead of them is dropped by a receiver
-- that has things sent again, but is all that there is where the capture, or a link that does not, has lost
-- some: so those go on with `ahead`, a stream of its own, until what is missing comes.
local function stream_of(head)
  local key = string.format("%d %s", head.link, head.down)
  local all = session.streams[key]
  if not all or all.epoch ~= head.epoch then
    all = {epoch = head.epoch, seen = {}}
    all.main = head.seq == 0 and {link = head.link, down = head.down} or begin_within(head)
    all.main.epoch, all.main.expected = head.epoch, head.seq
    session.streams[key] = all
  end
  return all
end

local function begin_ahead(all, head)
  all.ahead = begin_within(head)
  all.ahead.epoch, all.ahead.expected = head.epoch, head.seq
  return all.ahead
end

-- What a good DATA frame is to its stream: the part of it that it goes on with, or nil.
local function place(all, head, entry)
  local first = all.seen[head.seq]
  if first then
    entry.original, entry.differs = first.number, first.crc ~= head.crc
  end
  if head.seq == all.main.expected then
    all.ahead = nil
    return all.main
  elseif first then
    return nil
  elseif all.ahead and head.seq == all.ahead.expected then
    return all.ahead
  end
  entry.missing = (head.seq - (all.ahead or all.main).expected) % 2 ^ 32
  if entry.missing >= 2 ^ 31 then -- it fills a gap
    entry.missing = nil
    return nil
  end
  return begin_ahead(all, head)
end

-- Looks at a DATA frame for the first time, in the order of the capture.
local function look_at_data(head, raw, number, time)
  local entry = {}
  local stream
  if head.crc_good then
    local all = stream_of(head)
    stream = place(all, head, entry)
    if stream then
      stream.expected = (head.seq + 1) % 2 ^ 32
      all.seen[head.seq] = all.seen[head.seq] or {number = number, crc = head.crc}
    end
  end
  stream = stream or begin_within(head) -- alone, and no part of a conversation
  stream.time = stream.expected and time or nil
  entry.pieces = take_apart(stream, number, raw, head.syncs, head.words, head.blocks)
  return entry
end

-- Showing: the tree of one link frame.

local CONTROLS = {
  [BLOCK.MF_BT_MS] = {"MS_KIND", "MS_DST", "MS_SRC", "MS_ID", "MS_EXT", "MS_LAST", "MS_ADDR"},
  [BLOCK.MF_BT_N] = {"NG_DST", "NG_ID", "NG_SIZE", "N_MORE", "N_SPARE", "N_MEGA", "N_EXT", "MSG_CHECK"},
  [BLOCK.MF_BT_G] = {"NG_DST", "NG_ID", "NG_SIZE", "G_RESP", "G_SPARE", "MSG_CHECK"},
}
local MT = {
  [PROTO.MF_RREQ] = {"MT_ADDR", "MT_SIZE", "MSG_CHECK"},
  [PROTO.MF_RMWREQ] = {"MT_ADDR", "MT_OP", "MT_ANSWER", "MSG_CHECK"},
  chunk = {"MT_ADDR", "MT_OFFSET", "MT_TAIL", "MT_CHUNK_SPARE", "MSG_CHECK"},
}
local MST = {
  [PROTO.MF_ACK] = {"MS_KIND", "MS_DST", "MS_SRC", "MS_ID", "ACK_USE", "MSG_CHECK"},
  [PROTO.MF_ERR] = {"MS_KIND", "MS_DST", "MS_SRC", "MS_ID", "ERR_STATUS", "ERR_OF", "ERR_USE", "MSG_CHECK"},
  [PROTO.MF_GRET] = {"MS_KIND", "MS_DST", "GRET_ID", "GRET_RESP", "GRET_SIZE", "GRET_ASKED", "GRET_SPARE",
                    "MSG_CHECK"},
  [PROTO.MF_TAKE] = {"MS_KIND", "TAKE_EPOCH", "TAKE_WHAT", "TAKE_OF", "TAKE_SPARE", "MSG_CHECK"},
}

local OF_INCARNATION = {"MS_KIND", "MS_DST", "MS_SRC", "MS_ID", "ERR_STATUS", "ERR_INCARNATION", "MSG_CHECK"}
local OF_GAP = {"MS_KIND", "MS_DST", "MS_SRC", "MS_ID", "ERR_STATUS", "ERR_APPLIED", "ERR_USE", "MSG_CHECK"}

local function made(tree, name, ...)
  return tree:add(fields[name], ...):set_generated()
end

local TITLE = {} -- of the fields of LAYOUT, and the names of their values
for _, n in ipairs(NAMES) do
  TITLE[n[1]] = {n[2], n[3]}
end

-- "..01 0100 ...." of some octets, the highest first. Wireshark makes this for masks of 32 bits only.
local function picture(s, first, width, from, to)
  local text = {}
  for i = 8 * to + 7, 8 * from, -1 do
    text[#text + 1] = i >= first and i < first + width and string.format("%d", bits(s, 1, i, 1)) or "."
    if i % 4 == 0 then
      text[#text + 1] = " "
    end
  end
  return table.concat(text)
end

-- A field as it stands in its block.
local function show_bits(tree, range, s, name)
  local first, width = LAYOUT[name][1], LAYOUT[name][2]
  local from, to = math.floor(first / 8), math.floor((first + width - 1) / 8)
  local value, names = bits(s, 1, first, width), TITLE[name][2]
  local text = string.format("%d", value)
  text = names and string.format("%s (%s)", names[value] or "Unknown", text) or text
  tree:add(fields[filter_of(name)], range(from, to - from + 1),
    width > 32 and UInt64(value % 2 ^ 32, math.floor(value / 2 ^ 32)) or value,
    string.format("%s= %s: %s", picture(s, first, width, from, to), TITLE[name][1], text))
end

-- A control block.
local function show_block(tree, range, title, names)
  local item, s = tree:add(fields[(title:lower():gsub("/", ""))], range):set_text(title), range:raw()
  item:add(fields["block"], range(0, 1))
  for _, name in ipairs(names or {}) do
    show_bits(item, range, s, name)
  end
end

local function show_check(tree, name, good, text)
  made(tree, name .. ".status", good and 1 or 0)
  if not good then
    tree:add_proto_expert_info(expert.check, text)
  end
end

-- Between two frames, to the nanosecond.
local function time_between(from, to)
  local ns = math.floor((to - from) * 1e9 + 0.5)
  return NSTime(math.floor(ns / 1e9), ns % 1e9)
end

local function show_talk(tree, m)
  local function other(name, of)
    if of then
      made(tree, name, of.number)
    end
  end
  other("request_in", m.request)
  other("response_in", m.response)
  other("demand_in", m.demand)
  other("grant_in", m.grant)
  other("used_in", m.used)
  other("sent_in", m.sent)
  if m.request then
    made(tree, "response_time", time_between(m.request.time, m.time))
  end
  if m.demand then
    made(tree, "grant_time", time_between(m.demand.time, m.time))
  end
  if m.sent then
    made(tree, "forward_time", time_between(m.sent.time, m.time))
  end
end

-- What it says, and under which name.
local SAYS = {src = "src", dst = "dst", id = "id", size = "size", offset = "offset", op = "opcode",
              task = "task", call = "call", task_slot = "task.slot", task_number = "task.number"}
local SAYS_ORDER = {"src", "dst", "id", "size", "offset", "op", "task", "call", "task_slot", "task_number"}

local function show_says(tree, range, m, s)
  made(tree, "kind", m.kind)
  for _, name in ipairs(SAYS_ORDER) do
    if m[name] then
      made(tree, SAYS[name], m[name])
    end
  end
  if m.addressed then
    made(tree, "address", UInt64.fromhex((hex(s, #s - 6, 3) .. hex(s, 6, 3):sub(3)):sub(3)))
  end
  if m.last ~= nil then
    made(tree, "last", m.last)
  end
  if m.status then
    made(tree, "status", m.status)
  end
  if m.key then
    tree:add_le(fields["key"], range(m.key - 1, 8))
    local block = range(m.key + 7, 8)
    show_bits(tree, block, block:raw(), "EXT_EPOCH")
    show_bits(tree, block, block:raw(), "EXT_AGAIN")
    show_bits(tree, block, block:raw(), "EXT_FROM")
    show_bits(tree, block, block:raw(), "EXT_NUMBER")
  end
end

local function show_long(tree, range, m, s)
  local last = range(#s - 8, 8)
  show_block(tree, range(0, 8), "/MS/", CONTROLS[BLOCK.MF_BT_MS])
  for _, at in ipairs(m.args or {}) do
    if at + 7 <= #s - 8 then
      tree:add_le(fields["arg"], range(at - 1, 8))
    end
  end
  if m.payload then
    tree:add(fields["payload"], range(m.payload - 1, m.size))
  elseif m.unknown and #s > 16 then
    tree:add(fields["data"], range(8, #s - 16))
  end
  if m.crc32 then
    local block = range(#s - 16, 8)
    show_bits(tree, block, block:raw(), "MSG_CRC32_SPARE")
    tree:add_le(fields["check32"], block(0, 4))
    show_check(tree, "check32", m.crc32_good, string.format("CRC-32C should be 0x%08x", m.crc32_is))
  end
  show_block(tree, last, "/MT/", CHUNKS[m.kind] and MT.chunk or MT[m.kind] or {"MSG_CHECK"})
end

local function show_message(tree, range, m, s)
  if m.flit then
    made(tree, "flit.kind", m.flit_kind)
    made(tree, "flit.seq", m.flit_seq)
    tree:add(fields["data"], range)
    return
  end
  show_says(tree, range, m, s)
  if m.single then
    local names = m.single == BLOCK.MF_BT_MST and (MST[m.kind] or {"MS_KIND", "MSG_CHECK"}) or
      CONTROLS[m.single]
    names = m.of_incarnation and OF_INCARNATION or m.applied and OF_GAP or names
    show_block(tree, range, m.single == BLOCK.MF_BT_MST and "/MST/" or KINDS[m.kind], names)
  else
    show_long(tree, range, m, s)
  end
  tree:add_le(fields["check"], range(#s - 2, 2))
  show_check(tree, "check", crc16_of(s) == field_of(s, #s - 7, "MSG_CHECK"),
    string.format("CRC-16 should be 0x%04x", crc16_of(s)))
  if m.unknown then
    tree:add_proto_expert_info(expert.unknown, "No kind of message has this number")
  end
  for _, problem in ipairs(m.good and m.problems or {}) do
    tree:add_proto_expert_info(expert.format, problem)
  end
  show_talk(tree, m)
end

local function tvb_of(s, name)
  return ByteArray.new(s, true):tvb(name)
end

local TITLES = {
  idle = "Idle",
  rest = "Blocks of what began before",
  stray = "Blocks that belong to nothing",
  unknown = "No block of the standard or of memfab",
  error = "Error",
  ordered = "Ordered set",
}

local show = {}

function show.message(tree, range, p, raw_of)
  local thing = p.thing
  if p.begins and p.ends then
    show_message(tree, range, thing.message, raw_of(p))
  elseif p.ends then
    made(tree, "begins", thing.pieces[1].number)
    show_message(tree, tvb_of(thing.octets, "Message")(), thing.message, thing.octets)
  else
    if p.begins then
      show_block(tree, range(0, 8), "/MS/", CONTROLS[BLOCK.MF_BT_MS])
      if range:len() > 8 then
        tree:add(fields["data"], range(8))
      end
    else
      tree:add(fields["data"], range)
    end
  end
end

-- The frames within are shown behind the tree, as those of Ethernet.
function show.frame(tree, range, p, raw_of, frames)
  local thing, from, len = p.thing, 0, range:len()
  if p.begins then
    show_block(tree, range(0, 8), "Start", nil)
    from, len = 8, len - 8
  end
  local data = p.ends and len - 8 or len
  if data > 0 then
    tree:add(fields["data"], range(from, data))
  end
  if p.ends then
    show_block(tree, range(range:len() - 8, 8), "End", nil)
    if not p.begins then
      made(tree, "begins", thing.pieces[1].number)
    end
    if #thing.frame >= FRAME_MIN then
      frames[#frames + 1] = thing.frame
    else
      tree:add_proto_expert_info(expert.format, "Shorter than an Ethernet header and FCS")
    end
  end
end

local function title_of(p)
  local thing = p.thing
  if thing.what == "message" then
    if p.ends then
      return thing.text
    end
    return p.begins and "Message, begins" or "Message, goes on"
  elseif thing.what == "frame" then
    if p.ends then
      return string.format("Ethernet frame, %d B", #thing.frame)
    end
    return p.begins and "Ethernet frame, begins" or "Ethernet frame, goes on"
  end
  return TITLES[thing.what]
end

local function show_piece(tree, tvb, head, p, raw_of, frames)
  local range = tvb(head.words - 1 + 8 * p.first, 8 * (p.last - p.first + 1))
  local thing, title = p.thing, title_of(p)
  local where = p.first == p.last and "Block " .. p.first or
    string.format("Blocks %d to %d", p.first, p.last)
  local item = tree:add(fields[thing.what], range):set_text(where .. ": " .. title)
  if show[thing.what] then
    show[thing.what](item, range, p, raw_of, frames)
    if not p.ends and thing.done then
      made(item, "ends", thing.done)
    end
  else
    if thing.what ~= "stray" and thing.what ~= "rest" then
      item:add(fields["block"], range(0, 1))
    end
    item:add(fields["data"], range)
  end
  if thing.what == "stray" or thing.what == "unknown" or thing.what == "error" then
    item:add_proto_expert_info(expert.unknown, TITLES[thing.what])
  end
  if thing.cut and p == thing.pieces[#thing.pieces] then
    item:add_proto_expert_info(expert.cut, "Cut: " .. thing.cut)
  end
end

local function show_members(tree, tvb, at, prefix, members, names)
  local items = {}
  for _, name in ipairs(names) do
    items[name] = tree:add_le(fields[prefix .. name], tvb(at + members[name][1], members[name][2]))
  end
  return items
end

local BODIES = {}

BODIES[LINK.MF_LINK_HELLO] = {size_of(HELLO), function(tree, tvb, at)
  local items = show_members(tree, tvb, at, "hello.", HELLO, {"epoch", "partner", "fabric", "features",
    "period", "window", "blocks", "state", "echo", "first", "node", "took", "thread", "name", "host"})
  items.features:add_le(fields["hello.features.retransmits"], tvb(at + HELLO.features[1], HELLO.features[2]))
  items.features:add_le(fields["hello.features.proves"], tvb(at + HELLO.features[1], HELLO.features[2]))
  items.state:add_le(fields["hello.state.ready"], tvb(at + HELLO.state[1], HELLO.state[2]))
  items.state:add_le(fields["hello.state.done"], tvb(at + HELLO.state[1], HELLO.state[2]))
  return string.format("from %s%s", tvb(at + HELLO.name[1], HELLO.name[2]):stringz(),
    tvb(at + HELLO.partner[1], HELLO.partner[2]):le_uint64() ~= UInt64(0) and ", knows the partner" or "")
end}

BODIES[LINK.MF_LINK_REFUSE] = {size_of(REFUSE), function(tree, tvb, at)
  show_members(tree, tvb, at, "refuse.", REFUSE, {"reason", "zero", "have", "got", "epoch"})
  return REASONS[tvb(at, 2):le_uint()] or "unknown reason"
end}

BODIES[LINK.MF_LINK_BYE] = {size_of(BYE), function(tree, tvb, at)
  show_members(tree, tvb, at, "bye.", BYE, {"leave", "zero"})
  return LEAVES[tvb(at, 2):le_uint()] or "unknown reason"
end}

local function show_head(tree, tvb, head)
  local base_at = -HEAD.version[1]
  show_members(tree, tvb, base_at, "", HEAD, {"version", "type", "link"})
  local flags = show_members(tree, tvb, base_at, "", HEAD, {"flags"}).flags
  for _, name in ipairs({"flags.switch", "flags.poll", "flags.zero"}) do
    flags:add_le(fields[name], tvb(base_at + HEAD.flags[1], HEAD.flags[2]))
  end
  made(tree, "direction", head.down and "down" or "up"):append_text(head.down and
    ", from the switch to the node" or ", from the node to the switch")
  local crc = show_members(tree, tvb, base_at, "", HEAD, {"epoch", "seq", "ack", "limit", "blocks", "length",
    "crc"}).crc
  if head.whole then
    made(tree, "crc.status", head.crc_good and 1 or 0)
    if not head.crc_good then
      crc:add_proto_expert_info(expert.crc, string.format("CRC-32C should be 0x%08x", head.crc_is))
    end
  end
end

local function read_head(raw)
  local head = {}
  for name, place_of in pairs(HEAD) do
    head[name] = number(raw, place_of[1] - HEAD.version[1] + 1, place_of[2])
  end
  local body = HEAD_END - HEAD.version[1] + 1
  local crc = HEAD.crc[1] - HEAD.version[1]
  head.down = head.flags % 2 == 1
  head.body = body
  head.whole = body - 1 + head.length <= #raw
  if head.whole then
    head.crc_is = crc32c_of(raw:sub(1, crc) .. "\0\0\0\0", raw:sub(body, body + head.length - 1))
    head.crc_good = head.crc_is == head.crc
  end
  local sync_octets = 8 * math.ceil(head.blocks / 32)
  head.syncs, head.words = body, body + sync_octets
  head.fits = head.blocks > 0 and head.length == sync_octets + 8 * head.blocks
  return head
end

local INFO_MAX = 6

local function info_of(pieces)
  local text = {}
  for _, p in ipairs(pieces) do
    if p.thing.what ~= "idle" then
      text[#text + 1] = title_of(p)
    end
    if #text > INFO_MAX then
      text[#text] = "..."
      break
    end
  end
  return table.concat(text, ", ")
end

local function show_data(tree, tvb, pinfo, raw, head, frames)
  local entry = session.frames[pinfo.number]
  if not entry then
    entry = look_at_data(head, raw, pinfo.number, pinfo.rel_ts)
    session.frames[pinfo.number] = entry
  end
  if entry.missing then
    made(tree, "missing", entry.missing):add_proto_expert_info(expert.gap)
  end
  if entry.original then
    made(tree, "original", entry.original):add_proto_expert_info(entry.differs and expert.format or
      expert.again, entry.differs and "Sent again, but not the same octets" or "Sent again")
  end
  tree:add(fields["sync"], tvb(head.syncs - 1, head.words - head.syncs))
  for _, p in ipairs(entry.pieces) do
    show_piece(tree, tvb, head, p, function(q)
      return raw:sub(head.words + 8 * q.first, head.words + 8 * q.last + 7)
    end, frames)
  end
  return (entry.original and "[sent again] " or "") .. info_of(entry.pieces)
end

local function show_body(tree, tvb, pinfo, raw, head, frames)
  local at, body = head.body - 1, BODIES[head.type]
  if head.version ~= LINK.MF_LINK_VERSION and head.type ~= LINK.MF_LINK_REFUSE then
    tree:add_proto_expert_info(expert.unknown,
      "Another version: all behind the flags may mean something else")
    return ""
  end
  if head.type == LINK.MF_LINK_DATA and head.fits then
    return show_data(tree, tvb, pinfo, raw, head, frames)
  elseif body and head.length >= body[1] then
    return body[2](tree, tvb, at)
  elseif body or head.type == LINK.MF_LINK_DATA or head.type == LINK.MF_LINK_PROBE and not head.fits then
    tree:add_proto_expert_info(expert.format, "The length of the body does not fit")
  elseif not TYPES[head.type] then
    tree:add_proto_expert_info(expert.unknown, "No link frame has this type")
  end
  if head.length > 0 and not (head.type == LINK.MF_LINK_PROBE and head.fits) then -- which is full of zeros
    tree:add(fields["body"], tvb(at, head.length))
  end
  return ""
end

local nested = false -- within a frame that a link frame carries

-- An encapsulated frame that is itself one of ours is data.
local function show_frames(pinfo, root, frames)
  for _, frame in ipairs(frames) do
    nested = true
    pcall(Dissector.call, Dissector.get("eth_withfcs"), tvb_of(frame, "Ethernet frame"), pinfo, root)
    nested = false
  end
end

function memfab.dissector(tvb, pinfo, root)
  if nested then
    return 0
  end
  local raw = tvb:raw()
  local tree = root:add(memfab, tvb())
  local frames = {}
  if #raw < HEAD_END - HEAD.version[1] then
    tree:add_proto_expert_info(expert.short, "Shorter than a header")
    pinfo.cols.protocol = "memfab"
    return tvb:len()
  end
  local head = read_head(raw)
  show_head(tree, tvb, head)
  local info = ""
  if head.whole then
    info = show_body(tree, tvb, pinfo, raw, head, frames)
    if #raw > head.body - 1 + head.length then
      tree:add(fields["padding"], tvb(head.body - 1 + head.length))
    end
  else
    tree:add_proto_expert_info(expert.short, "Shorter than its header says")
  end
  local title = string.format("link %d %s, %s", head.link, head.down and "down" or "up",
    TYPES[head.type] or "type " .. head.type)
  if head.type == LINK.MF_LINK_DATA then
    title = string.format("%s %d, %d blocks", title, head.seq, head.blocks)
  elseif head.type == LINK.MF_LINK_PROBE then
    title = string.format("%s of %d blocks", title, head.blocks)
  end
  tree:append_text(", " .. title)
  show_frames(pinfo, root, frames)
  pinfo.cols.protocol = "memfab"
  pinfo.cols.info = title .. (info ~= "" and ": " .. info or "")
  return tvb:len()
end

memfab.fields = (function()
  local all = {}
  for _, f in pairs(fields) do
    all[#all + 1] = f
  end
  return all
end)()
memfab.experts = (function()
  local all = {}
  for _, e in pairs(expert) do
    if type(e) == "userdata" then
      all[#all + 1] = e
    end
  end
  return all
end)()

local table_of, registered = DissectorTable.get("ethertype"), prefs.ethertype
table_of:add(registered, memfab)

function memfab.prefs_changed()
  if prefs.ethertype ~= registered then
    table_of:remove(registered, memfab)
    registered = prefs.ethertype
    table_of:add(registered, memfab)
  end
end
