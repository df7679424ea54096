# SPDX-License-Identifier: BSD-3-Clause
import sys

from memfab_report.cli import main

sys.exit(main())
