/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_file_type.h"

#include <string.h>

const char *mf_file_type(const void *octets, size_t len)
{
	static const struct {
		const char *begin;
		size_t len;
		const char *says;
	} known[] = {
		{"\x1f\x8b", 2, "compressed by gzip: unpack it first"},
		{"\x28\xb5\x2f\xfd", 4, "compressed by zstd: unpack it first"},
		{"\xfd\x37zXZ\0", 6, "compressed by xz: unpack it first"},
		{"BZh", 3, "compressed by bzip2: unpack it first"},
		{"PK\3\4", 4, "a zip archive: unpack it first"},
		{"\xef\xbb\xbf", 3, "a byte order mark: save it as UTF-8 without one"},
		{"\xff\xfe", 2, "UTF-16: save it as UTF-8"},
		{"\xfe\xff", 2, "UTF-16: save it as UTF-8"},
		{"{\0", 2, "UTF-16: save it as UTF-8"},
		{"\0{", 2, "UTF-16: save it as UTF-8"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (len >= known[i].len && memcmp(octets, known[i].begin, known[i].len) == 0)
			return known[i].says;
	return NULL;
}
