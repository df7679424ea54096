# SPDX-License-Identifier: BSD-3-Clause
"""The key-value store of Figures 6 and 7 as a workload."""


def workload(name, depth, local=None):
  """A read asks for 1 KB, a write carries 100 B."""
  made = {'ycsb': name, 'depth': depth}
  return made if local is None else {**made, 'local': round(local, 4)}
