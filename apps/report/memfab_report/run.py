# SPDX-License-Identifier: BSD-3-Clause
"""One start of memfab-emu, told apart from all others by the hash of its fabric file."""
import hashlib
import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
  """text: the fabric file. seconds: of a core, roughly, to cut work into even parts and to tell time left."""
  text: str
  seconds: float = field(compare=False)

  @property
  def id(self):
    return hashlib.sha256(self.text.encode()).hexdigest()[:20]

  @property
  def fabric(self):
    return json.loads(self.text)


def make(fabric, seconds):
  """The same parameters in another order are the same run."""
  return Run(json.dumps(fabric, sort_keys=True, separators=(',', ':')), seconds)


def unique(runs):
  """Each once, in the order of the first."""
  return list({run.id: run for run in runs}.values())
