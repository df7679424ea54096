# SPDX-License-Identifier: BSD-3-Clause
"""The figures in the order of the page. Each is a module with

KEY, TITLE, ABOUT      what it is called after --only and on the page, and in a few words what is done
SIZES                  {size: parameters of its runs}
cells(size)            its cells (cell.py)
plots(study)           [(title, matplotlib figure)]
tables(study)          [Table] (table.py)
why(study)             why it differs from what was published: paragraphs, figures out of the results
"""
from . import (clio4, clio5, clio6, clio12, clio13, figure5, figure6, figure7, figure8a, figure8b, mechanisms,
               rack512, sensitivity, table1)

BY_SYSTEM = {
    'edm': (table1, figure5, figure6, figure7, figure8a, mechanisms, figure8b, sensitivity, rack512),
    'clio': (clio4, clio5, clio6, clio12, clio13),
}
BY_KEY = {figure.KEY: figure for of_system in BY_SYSTEM.values() for figure in of_system}
SIZES = ('quick', 'full', 'tiny')


def keys(wanted):
  """Of all figures of a system, or of the one that is called so; None: there is none."""
  if wanted in BY_SYSTEM:
    return [figure.KEY for figure in BY_SYSTEM[wanted]]
  return [wanted] if wanted in BY_KEY else None


def systems(chosen):
  """Those that figures are of, by their keys."""
  return [name for name, of_system in BY_SYSTEM.items() if {f.KEY for f in of_system} & set(chosen)]
