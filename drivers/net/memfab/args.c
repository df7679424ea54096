/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands behind the name of a device: fabric=FILE,node=NAME[,workload=0|1][,only=0|1]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_kvargs.h>

#include "port.h"

#define USAGE "fabric=FILE,node=NAME[,workload=0|1][,only=0|1]"

static const char *const keys[] = {"fabric", "node", "workload", "only", NULL};

static int keep(const char *key, const char *value, void *to)
{
	char **at = to;

	(void)key;
	if (value == NULL || *value == '\0')
		return -EINVAL;
	*at = strdup(value);
	return *at != NULL ? 0 : -ENOMEM;
}

/** Sets *out to a copy of the key's value. */
static int take(const char *name, const struct rte_kvargs *args, const char *key, bool required, char **out)
{
	unsigned int n = rte_kvargs_count(args, key);

	*out = NULL;
	if (n > 1)
		PORT_LOG(ERR, "%s: '%s' is given more than once", name, key);
	else if (n == 0 && required)
		PORT_LOG(ERR, "%s: '%s=' is missing: " USAGE, name, key);
	else if (n == 0 || rte_kvargs_process(args, key, keep, out) == 0)
		return 0;
	else
		PORT_LOG(ERR, "%s: '%s=' has no value", name, key);
	return -EINVAL;
}

static int flag(const char *name, const char *key, const char *value, bool *out)
{
	*out = value != NULL && strcmp(value, "1") == 0;
	if (value == NULL || *out || strcmp(value, "0") == 0)
		return 0;
	PORT_LOG(ERR, "%s: %s=%s: is 0 or 1", name, key, value);
	return -EINVAL;
}

static int take_flag(const char *name, const struct rte_kvargs *args, const char *key, bool *out)
{
	char *value = NULL;
	int rc = take(name, args, key, false, &value);

	if (rc == 0)
		rc = flag(name, key, value, out);
	free(value);
	return rc;
}

static int take_all(const char *name, const struct rte_kvargs *args, struct port_args *out)
{
	int rc = take(name, args, "fabric", true, &out->fabric);

	if (rc == 0)
		rc = take(name, args, "node", true, &out->node);
	if (rc == 0)
		rc = take_flag(name, args, "workload", &out->workload);
	if (rc == 0)
		rc = take_flag(name, args, "only", &out->only);
	return rc;
}

int port_args_parse(const char *name, const char *text, struct port_args *out)
{
	struct rte_kvargs *args = rte_kvargs_parse(text != NULL ? text : "", keys);
	int rc;

	*out = (struct port_args){.workload = false};
	if (args == NULL) {
		PORT_LOG(ERR, "%s: '%s': the arguments are " USAGE, name, text);
		return -EINVAL;
	}
	rc = take_all(name, args, out);
	rte_kvargs_free(args);
	return rc;
}

void port_args_free(struct port_args *args)
{
	free(args->fabric);
	free(args->node);
}
