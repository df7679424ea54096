# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report: the paper's figures out of runs of memfab-emu, and pages of any results."""
