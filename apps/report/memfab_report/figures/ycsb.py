# SPDX-License-Identifier: BSD-3-Clause
"""The key-value store of Figures 6 and 7 as a workload (docs/fabric-file.md): a read asks for a record of
1,000 octets, an update carries a field of 100; F's 33 % writes are those of its read-modify-writes."""


RECORD = 1000  # octets: 10 fields of 100


# What a store is made of: the paper's records, and for comparison the size of its Table 1.
RECORDS = {'records of 1 KB': {}, 'records of 64 B': {'fields': 1, 'field': 64}}


def workload(name, records, depth, local=None):
  """records: of RECORDS. local: share of the queries that stay at the compute node."""
  made = {'ycsb': name, 'depth': depth, **RECORDS[records]}
  return made if local is None else {**made, 'local': round(local, 4)}


def latencies(result):
  """Mean in ns and number of local queries, of remote reads, of remote writes to their effect."""
  queries, kinds = result['operations']['queries']['in_all'], result['operations']['kinds']
  alone = queries['latency']['mean_ns'] * queries['latency']['count']
  remote = queries.get('remote_latency', {'mean_ns': 0, 'count': 0})
  local = queries['latency']['count'] - remote['count'] if queries['local'] else 0
  alone -= remote['mean_ns'] * remote['count']
  found = {'local': (alone / local if local else 0, local)}
  for name, latency in (('read', kinds.get('read', {}).get('latency')),
                        ('write', result['delivery'].get('writes', {}).get('effect'))):
    found[name] = (latency['mean_ns'], latency['count']) if latency and latency['count'] else (0, 0)
  return found


def mean_ns(result):
  found = latencies(result).values()
  return sum(ns * count for ns, count in found) / sum(count for _, count in found)
