# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report merge of results: those of the processes that played one fabric become that of the whole."""
from . import histogram, output, store, text
from .failure import MISSHAPEN, Failure

SCHEDULER = 'scheduler'
BACKUP_SCHEDULER = 'backup-scheduler'
NEEDED = {'clock', 'config', 'time', 'links', 'drops'}
OPERATIONS = 'operations'
LATEST = ('last_done_ps', 'drain_enough_ps')


def merge(paths, target):
  """@return exit status"""
  found = {}
  output.apart([('PART', path) for path in paths], [('-o', target)])
  for path in paths:
    if path in found:
      raise Failure(f'{path}: named twice')
    found[path] = part(path)
  try:
    check(found)
    whole = merged(list(found.values()))
    said = list(summary(whole))
  except MISSHAPEN as error:
    raise Failure(f'not parts as their schema says: {type(error).__name__}: {error}') from error
  store.write_json(target, whole)
  print('\n'.join(said))
  print(f'{len(paths)} parts: {target}')
  return 0


def part(path):
  """What a process says of its run."""
  found = store.read_json(path)
  if not (isinstance(found, dict) and {'result', 'run'} <= found.keys() and isinstance(found['run'], dict)
          and isinstance(found['result'], dict) and NEEDED <= found['result'].keys()):
    raise Failure(f'{path}: no result of memfab-emu')
  if 'roles' not in found['result']:
    raise Failure(f'{path}: all roles are in it: nothing is to be merged')
  return found


def check(found):
  """Of one fabric, each role once."""
  first, claimed = next(iter(found)), {}
  for path, each in found.items():
    if each['result']['fingerprint'] != found[first]['result']['fingerprint']:
      raise Failure(f'{path}: of another fabric than {first} (fingerprint {each["result"]["fingerprint"]} '
                    f'against {found[first]["result"]["fingerprint"]})')
    for role in each['result']['roles']:
      if role in claimed:
        raise Failure(f'{path}: plays {role}, and so does {claimed[role]}')
      claimed[role] = path


def roles_of(config):
  """All that there are, in the order of a part's own list."""
  nodes = names_of(config['nodes'])
  if 'switches' in config:
    return [*nodes, *names_of(config['switches'])]
  if 'switch' not in config:  # a link between two nodes
    return nodes
  backup = [config['backup']['name'], BACKUP_SCHEDULER] if 'backup' in config else []
  return [*nodes, config['switch']['name'], SCHEDULER, *backup]


def names_of(entries):
  """Those that entries of the fabric file stand for."""
  names = []
  for entry in entries:
    count = entry.get('count', 1)
    names += [entry['name']] if count == 1 else [f'{entry["name"]}{i}' for i in range(count)]
  return names


def merged(parts):
  """parts: at least one, checked. The clock, the configuration and the seed are those of who asks."""
  results = [p['result'] for p in parts]
  asking = [r for r in results if OPERATIONS in r] or results
  played = [role for r in results for role in r['roles']]
  missing = [role for role in roles_of(asking[0]['config']) if role not in played]
  whole = {'clock': 'wall', 'config': asking[0]['config'], 'time': asking[0]['time']}
  if missing:
    whole.update(roles=[role for role in roles_of(whole['config']) if role in played],
                 fingerprint=results[0]['fingerprint'])
  for key, how in SECTIONS.items():
    some = [r[key] for r in results if key in r]
    if some:
      whole[key] = how(some)
  derive(whole, not missing)
  own = [o for p in parts for o in p.get('parts', [of(p)])]
  return {'result': whole, 'run': run([o['run'] for o in own]), 'parts': own}


def of(found):
  return {**{key: found['result'][key] for key in ('roles', 'time', 'config')}, 'run': found['run']}


def only(some):
  """Of the one process that has it."""
  return some[0]


def joined(some):
  return [entry for entries in some for entry in entries]


def add(some, first=()):
  """Numbers of one name add up, maxima are compared, latencies are merged; `first`: keys of the first."""
  whole = {}
  for key in dict.fromkeys(key for each in some for key in each):
    values = [each[key] for each in some if key in each]
    if key in first or isinstance(values[0], str):
      whole[key] = values[0]
    elif isinstance(values[0], dict):
      whole[key] = histogram.merged(values) if 'histogram_ps' in values[0] else add(values, first)
    else:
      whole[key] = max(values) if key.endswith('_max') or key in LATEST else sum(values)
  return whole


def timed(some):
  """Times are those of the first. Each process has its own, and its rates are over that: those add up."""
  return add(some, ('from_ps', 'to_ps'))


def backups(some):
  """The epoch is that of the node that is ahead."""
  return {**add(some), 'epoch': max(each['epoch'] for each in some)}


def watchdogs(some):
  return add(some, ('time_ps',))


SECTIONS = {OPERATIONS: timed, 'phases': timed, 'frames': add, 'links': add, 'control': add, 'ports': joined,
            'carried': joined, 'scheduler': only, 'switch': only, 'stack': add, 'bridge': add, 'drops': add,
            'once': add, 'backup': backups, 'watchdog': watchdogs, 'series': joined}


def derive(whole, is_whole):
  """What only who has all of it can know."""
  if not is_whole:
    return
  whole['frames']['missing'] = whole['frames']['sent'] - whole['frames']['received']
  memory = 0
  for link in whole['links'].values():
    if 'memory_blocks_all' not in link:  # between switches: frames alone
      continue
    blocks = link.pop('memory_blocks_all')
    link['payload_share_of_memory_blocks'] = link['payload_octets'] / 8 / blocks if blocks else 0
    memory += blocks
  control = whole.setdefault('control', {'notification_and_grant_blocks': 0})
  control.update(memory_blocks=memory, share_in_paper=0.06,
                 share=control['notification_and_grant_blocks'] / memory if memory else 0)


def run(runs):
  """Versions and machine are those of the first; "parts" has all."""
  lcores, cpu = sum(r['lcores'] for r in runs), sum(r['cpu_seconds'] for r in runs)
  polled = sum(r['host_seconds'] * r['lcores'] for r in runs)
  whole = {key: runs[0][key] for key in ('memfab', 'dpdk', 'compiler', 'machine')}
  whole.update(placement=';'.join(r['placement'] for r in runs), lcores=lcores,
               host_seconds=max(r['host_seconds'] for r in runs), cpu_seconds=cpu,
               cpu_share=cpu / polled if polled else 0, events=sum(r['events'] for r in runs),
               spans=sum(r['spans'] for r in runs),
               oversubscribed=any(r.get('oversubscribed', False) for r in runs),
               interrupted=any(r['interrupted'] for r in runs))
  captures = joined([r['captures'] for r in runs if 'captures' in r])
  return {**whole, 'captures': captures} if captures else whole


def summary(whole):
  """For people: what was done, and how well the links carried it."""
  result = whole['result']
  if 'roles' in result:
    yield f'of {", ".join(result["roles"])} only: other roles are in none of the files'
  for kind, k in result.get(OPERATIONS, {}).get('kinds', {}).items():
    yield (f'{kind}: {k["completed"]:,} completed, {k["failed"]:,} failed, {k["rate_per_s"]:,.0f} a second, '
           f'{text.number(k["goodput_gbps"])} Gb/s, p50 {text.number(k["latency"]["p50_ns"] / 1000)} us, '
           f'p99 {text.number(k["latency"]["p99_ns"] / 1000)} us')
  carried = result.get('carried', [])
  for sender in carried:
    name, other = link_of(sender), other_end(sender)
    receivers = [e for e in carried if link_of(e) == name and e['end'] == other]
    # Results do not say which ends of parallel links belong together.
    yield link_line(name, sender, receivers[0] if len(receivers) == 1 else None)
  if whole['run']['oversubscribed']:
    yield (f'oversubscribed: the polling threads had {whole["run"]["cpu_share"] * 100:.0f} % of a CPU each, '
           'in the mean')


def link_of(end):
  """How a link is named: by its node, or by the two switches that it joins."""
  return end['node'] if 'node' in end else ' and '.join(end['between'])


def other_end(end):
  if 'between' in end:
    return end['between'][end['end'] == end['between'][0]]
  return 'node' if end['end'] == 'switch' else 'switch'


def direction(end):
  return f'from {end["end"]}' if 'between' in end else 'up' if end['end'] == 'node' else 'down'


def link_line(name, sender, receiver):
  sent = sender['counters']
  arrived = f', {receiver["counters"]["rx_data_frames"]:,} arrived' if receiver else ''
  return (f'link of {name}, {direction(sender)}: '
          f'{text.number(sender["tx_goodput_gbps"])} Gb/s, {sent["tx_data_frames"]:,} new frames{arrived}, '
          f'{sent["tx_replayed_frames"]:,} replayed, efficiency {sender.get("tx_efficiency", 1) * 100:.2f} %')
