# SPDX-License-Identifier: BSD-3-Clause
"""Which runs a set of figures needs."""
import hashlib
from dataclasses import dataclass

from . import figures, run
from .failure import Failure
from .version import COMMIT


@dataclass(frozen=True)
class Plan:
  """keys: of the figures, in the order of the page."""
  size: str
  keys: tuple

  def runs(self):
    return run.unique(r for key in self.keys for c in figures.BY_KEY[key].cells(self.size) for r in c.needs())

  def text(self):
    """Of what all shards of a plan must have in common."""
    ids = ' '.join(sorted(r.id for r in self.runs()))
    return {'size': self.size, 'figures': list(self.keys), 'commit': COMMIT,
            'runs': hashlib.sha256(ids.encode()).hexdigest()}


def make(size, wanted):
  """wanted: keys of figures and names of systems; none: all."""
  if size not in figures.SIZES:
    raise Failure(f'unknown size "{size}" (there are {", ".join(figures.SIZES)})')
  chosen = set()
  for key in wanted or figures.BY_SYSTEM:
    found = figures.keys(key)
    if found is None:
      raise Failure(f'unknown figure "{key}" (there are {", ".join(figures.BY_KEY)}; all of '
                    f'{" or ".join(figures.BY_SYSTEM)})')
    chosen.update(found)
  return Plan(size, tuple(key for key in figures.BY_KEY if key in chosen))
