# SPDX-License-Identifier: BSD-3-Clause
"""The figures in the order of the page. Each is a module with

KEY, TITLE, ABOUT      what it is called after --only and on the page, and in a few words what is done
SIZES                  {size: parameters of its runs}
cells(size)            its cells (cell.py)
plots(study)           [(title, matplotlib figure)]
tables(study)          [Table] (table.py)
why(study)             why it differs from what was published: paragraphs, figures out of the results
"""
from . import figure5, figure6, figure7, figure8a, figure8b, mechanisms, rack512, sensitivity, table1

ALL = (table1, figure5, figure6, figure7, figure8a, mechanisms, figure8b, sensitivity, rack512)
BY_KEY = {figure.KEY: figure for figure in ALL}
SIZES = ('quick', 'full', 'tiny')
