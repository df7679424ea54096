/* SPDX-License-Identifier: BSD-3-Clause */
/* What YCSB calls its operations. */
#include <string.h>

#include "workload/mf_workload.h"

static const char *const names[MF_QUERY_KINDS] = {
	[MF_QUERY_READ] = "READ", [MF_QUERY_UPDATE] = "UPDATE",       [MF_QUERY_INSERT] = "INSERT",
	[MF_QUERY_SCAN] = "SCAN", [MF_QUERY_RMW] = "READMODIFYWRITE",
};

const char *mf_query_kind_name(enum mf_query_kind kind)
{
	return (unsigned int)kind < MF_QUERY_KINDS ? names[kind] : "?";
}

enum mf_query_kind mf_query_kind_find(const char *name)
{
	unsigned int k = 0;

	if (strcmp(name, "READ-MODIFY-WRITE") == 0)
		return MF_QUERY_RMW;
	while (k < MF_QUERY_KINDS && strcmp(names[k], name) != 0)
		k++;
	return (enum mf_query_kind)k;
}
