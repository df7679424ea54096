# SPDX-License-Identifier: BSD-3-Clause
"""What ends the program with one line and an exit status."""


# What reading a result of another shape than its schema's comes to.
MISSHAPEN = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)


class Failure(Exception):
  """A faulty command line, file or folder: exit 2 unless it says otherwise."""

  def __init__(self, text, status=2):
    super().__init__(text)
    self.status = status
