/* SPDX-License-Identifier: BSD-3-Clause */
#include "vectors_body.h"

VECTORS(avx2, 256);
