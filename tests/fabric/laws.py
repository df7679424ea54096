# SPDX-License-Identifier: BSD-3-Clause
"""What a result of memfab-emu must not say, whatever was run: the laws of lines, counts and times."""
import re

UNIT = {'': 1, 'ps': 1, 'ns': 1e3, 'us': 1e6, 'ms': 1e9, 's': 1e12}
NEAR = 1e-9  # of what is computed from the same numbers in another way
RETURNS = {'read', 'cas', 'fadd', 'swap', 'or', 'and', 'call'}


def ps(text):
  number, unit = re.fullmatch(r'([0-9.]+)\s*([a-z]*)', str(text)).groups()
  return float(number) * UNIT[unit]


def octets(size):
  number, unit = re.fullmatch(r'([0-9.]+)([KMG]?)i?B?', str(size)).groups()
  return int(float(number) * 1024 ** ' KMG'.index(unit or ' '))


def block_ps(link):
  return 64 * 1e12 / (float(link['rate'][:-1]) * {'M': 1e6, 'G': 1e9}[link['rate'][-1]])


def names(entry):
  count = entry.get('count', 1)
  return [entry['name']] if count == 1 else [f'{entry["name"]}{i}' for i in range(count)]


def phy(timing):
  """Of a line: the PHY at both ends."""
  return (timing.get('pcs_tx', 0) + timing.get('pcs_rx', 0)) * ps(timing.get('cycle', 0)) + \
      2 * ps(timing.get('pma', 0))


class Lines:
  """Of the effective configuration: who has which lines, and how long a way over one takes at least."""

  def __init__(self, config):
    timing = {tier['name']: tier['timing'] for tier in config['tiers']} if 'tiers' in config else \
        {None: config['timing']}
    of_nodes = [link for link in config['links'] if 'node' in link]
    of_pairs = [link for link in config['links'] if 'node' not in link]
    self.crossed = 1 if any(self.pair(config, link) for link in of_pairs) else 2  # lines of a way, at least
    self.period, self.least = {}, float('inf')  # by node: of each of its lines
    for entry in config['nodes']:
      first = entry.get('ends', [{}])[0].get('tier')
      for name in names(entry):
        links = [link for link in of_nodes if link['node'] == name] or \
            [link for link in of_nodes if link['node'] == entry['name']]
        links += [link for link in of_pairs if name in self.pair(config, link)]
        self.period[name] = [block_ps(link) for link in links]
        self.least = min([self.least, *(phy(timing[link.get('tier', first)]) + ps(link['propagation'])
                                        for link in links)])
    self.all = [n for entry in config['nodes'] for n in names(entry)]
    self.role = {name: entry['role'] for entry in config['nodes'] for name in names(entry)}

  @staticmethod
  def pair(config, link):
    """The nodes of a link between two of them."""
    return [name for entry in config['nodes'] for name in names(entry) if name in link['between']]

  def gbps(self, able):
    """Of all lines, in one direction, of nodes with this ability."""
    return sum(64e3 / period for n in self.all if self.role[n] in (able, 'both') for period in self.period[n])

  def fastest(self):
    return min(period for lines in self.period.values() for period in lines)


def sizes(config):
  """The least payload that an operation may have."""
  least = []
  for workload in config['workload']:
    size = workload.get('size')
    if 'trace' in workload or 'ycsb' in workload or not isinstance(size, dict):
      return 1
    least.append(octets(size['value']) if size['dist'] == 'fixed' else 1)
  return min(least, default=1)


def shares(value, path=''):
  """Everything that is a share of a whole, by its name."""
  if isinstance(value, list):
    for i, each in enumerate(value):
      yield from shares(each, f'{path}/{i}')
  if not isinstance(value, dict):
    return
  for key, each in value.items():
    if isinstance(each, (dict, list)):
      if key not in ('config', 'offered'):  # more than a line may be offered, not carried
        yield from shares(each, f'{path}/{key}')
    elif re.search('utilisation|share|of_limit|efficiency', key) or path.endswith('/achieved') and \
        key in ('wire', 'wire_mean', 'payload'):
      yield f'{path}/{key}', each


def total(table, key):
  return sum(entry[key] for entry in table.values())


def counted(result):
  """Rates are what counts over their time; and what counts is what there was."""
  operations, phases = result['operations'], result['phases']
  rates, kinds, steady = operations['rates'], operations['kinds'], phases['steady']
  time = (rates['to_ps'] - rates['from_ps']) * 1e-12
  for kind, k in kinds.items():
    for rate, count in (('rate_per_s', k['rated']), ('goodput_gbps', k['rated_octets'] * 8e-9)):
      want = count / time if time > 0 else 0
      if abs(k[rate] - want) > NEAR * max(1, want):
        yield f'{kind}: {rate} {k[rate]} is not {count} over {time} s'
  if rates['count'] == 'completed_in_steady_state':
    # From completion to completion what completed first does not count.
    apart = rates['from_ps'] > steady['from_ps'] and result['phases']['warmup']['messages']['begun'] > 0
    others = operations.get('tasks', 0)  # what is asked of spaces is of no kind
    for what, key in (('messages', 'rated'), ('octets', 'rated_octets')):
      least = 0 if apart else steady[what]['completed'] - (others if what == 'messages' else 0)
      if not least <= total(kinds, key) <= steady[what]['completed']:
        yield f'counts {total(kinds, key)} {what}, {steady[what]["completed"]} completed'
    if rates['from_ps'] < steady['from_ps'] or rates['to_ps'] > steady['to_ps']:
      yield f'rates are over {rates}, the steady state is {steady}'
  elif total(kinds, 'rated') != total(kinds, 'completed'):
    yield f'counts {total(kinds, "rated")} operations of {total(kinds, "completed")} measured'
  longest = max((k['latency']['max_ns'] for k in kinds.values() if k['completed']), default=0)
  if total(kinds, 'rated') and longest > time * 1e9 * (1 + NEAR):
    yield f'an operation took {longest} ns, rates are over {time * 1e9} ns'
  flow = result.get('load', {}).get('flow')
  each = total(kinds, 'goodput_gbps')
  if flow and abs(flow['completed_gbps'] - each) > NEAR * max(1, each):
    yield f'{flow["completed_gbps"]} Gb/s completed, {each} by kind'


def carried(result):
  """No direction of the lines together carries more than it can."""
  kinds, lines = result['operations']['kinds'], Lines(result['config'])
  up, down = lines.gbps('compute'), lines.gbps('memory')
  most = {'write': up, 'write_ack': min(up, down)}
  back = 0
  for kind, k in kinds.items():
    if kind in RETURNS:
      back += k['goodput_gbps']
    elif k['goodput_gbps'] > most[kind]:
      yield f'{kind}: {k["goodput_gbps"]} Gb/s, {most[kind]} can be'
  if back > min(up, down):
    yield f'to those who ask: {back} Gb/s, {min(up, down)} can be'
  written = sum(k['goodput_gbps'] for kind, k in kinds.items() if kind not in RETURNS)
  if written > up:
    yield f'from those who ask: {written} Gb/s, {up} can be'


def bounded(result):
  """What completed in the steady state crossed a line in it, or was under way when it began."""
  phases, lines = result['phases'], Lines(result['config'])
  steady, before = phases['steady'], phases['warmup']['octets']
  under_way = before['begun'] - before['completed'] - before['failed']
  seconds = (steady['to_ps'] - steady['from_ps']) * 1e-12
  least = min(lines.gbps('compute'), lines.gbps('memory'))
  # Both directions together; a plain write is over when its sender has sent it.
  most = (lines.gbps('compute') + least) * 1e9 / 8 * seconds + under_way
  if steady['octets']['completed'] > most + 64:
    yield f'{steady["octets"]["completed"]} octets completed, {most} can have'


def lasting(result):
  """No latency is less than the ways, the PHYs and the blocks of its own data."""
  lines, config = Lines(result['config']), result['config']
  edm = all(tier['stack']['name'] == 'edm' for tier in config.get('tiers', [config]))
  data = (sizes(result['config']) + 7) // 8 * lines.fastest()
  for kind, k in result['operations']['kinds'].items():
    if not k['completed']:
      continue
    # Reads, atomics and acknowledged writes go there and back; a plain write is asked for, and granted.
    crossings = 2 * lines.crossed if kind != 'write' else 2 if edm else 0
    least = crossings * lines.least + (0 if kind not in ('read', 'write', 'write_ack', 'call') else data)
    least -= lines.fastest()  # the last block counts from its begin
    if k['latency']['min_ns'] * 1000 < least:
      yield f'{kind}: {k["latency"]["min_ns"]} ns, at least {least / 1000} have to be'
    for late, early in (('max_ns', 'p50_ns'), ('p50_ns', 'min_ns')):
      if k['latency'][late] < k['latency'][early] * (1 - 1 / 64):
        yield f'{kind}: {late} is below {early}'
  effect = result.get('delivery', {}).get('writes', {}).get('effect')
  least = (4 if edm else lines.crossed) * lines.least + data - lines.fastest()
  if effect and effect['min_ns'] * 1000 < least:
    yield f'effect: {effect["min_ns"]} ns, at least {least / 1000} have to be'


def broken(both, has_rate=True):
  """All that is not so. has_rate: its lines have one: under the wall clock only with `shape`."""
  result = both['result']
  for path, share in shares({'result': result, 'run': both['run']}):
    if not 0 <= share <= 1:
      yield f'{path}: a share of {share}'
  if 'operations' not in result:
    return
  yield from counted(result)
  if has_rate:
    yield from carried(result)
    yield from bounded(result)
    yield from lasting(result)
