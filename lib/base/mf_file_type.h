/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file is that should be plain text and is not: other tools write such, and it can be unpacked. */
#ifndef MF_FILE_TYPE_H
#define MF_FILE_TYPE_H

#include <stddef.h>

/** By its first octets. @return "compressed by gzip", ...; NULL: nothing that we know */
const char *mf_file_type(const void *octets, size_t len);

#endif
