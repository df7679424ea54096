/* SPDX-License-Identifier: BSD-3-Clause */
/* A mix of operations on the command line. */
#include <stdbool.h>
#include <string.h>

#include "argument.h"
#include "base/mf_number.h"

#define WEIGHT_MAX 1e9 /* as in the fabric file */

static unsigned int find(const char *name, size_t len)
{
	unsigned int i = 0;

	while (i < MF_MIXES && (strlen(mf_config_mix_name((enum mf_mix)i)) != len ||
				strncmp(mf_config_mix_name((enum mf_mix)i), name, len) != 0))
		i++;
	return i;
}

/** One of len octets. */
static int take(const char *one, size_t len, double *mix, bool *named, char *err, size_t errlen)
{
	const char *colon = memchr(one, ':', len), *end = one + len;
	size_t name = colon != NULL ? (size_t)(colon - one) : len;
	unsigned int kind = find(one, name);

	if (kind == MF_MIXES)
		return argument_refuse(
			err, errlen,
			"'%.*s' is none of: read, write, write_ack, cas, fadd, swap, or, and, call", (int)len,
			one);
	if (named[kind])
		return argument_refuse(err, errlen, "%.*s is named twice", (int)name, one);
	named[kind] = true;
	mix[kind] = 1;
	if (colon != NULL && (mf_number_real(colon + 1, &mix[kind]) != end || mix[kind] > WEIGHT_MAX))
		return argument_refuse(err, errlen, "'%.*s' is not a weight from 0 to 10^9", (int)len, one);
	return 0;
}

int argument_mix(const char *s, double *mix, char *err, size_t errlen)
{
	bool named[MF_MIXES] = {false};
	double sum = 0;
	int rc = 0;

	memset(mix, 0, MF_MIXES * sizeof(*mix));
	for (const char *one = s;; one++) {
		size_t len = strcspn(one, ",");

		rc = take(one, len, mix, named, err, errlen);
		one += len;
		if (rc != 0 || *one == '\0')
			break;
	}
	for (unsigned int i = 0; i < MF_MIXES; i++)
		sum += mix[i];
	if (rc == 0 && !(sum > 0))
		rc = argument_refuse(err, errlen, "'%s' has no weight above 0", s);
	return rc;
}
