# SPDX-License-Identifier: BSD-3-Clause
"""What made a page. The build puts the version and the commit into built.py."""
try:
  from .built import COMMIT, VERSION
except ImportError:  # out of the source folder
  COMMIT, VERSION = 'unknown', 'unbuilt'
