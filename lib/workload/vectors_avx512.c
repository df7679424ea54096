/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/vectors_body.h"

VECTORS(avx512, 512);
