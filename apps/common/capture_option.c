/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"

#define LINK "link="
#define DIR "dir="

static bool is(const char *s, size_t len, const char *name)
{
	return strlen(name) == len && strncmp(s, name, len) == 0;
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/** The link of a node, or those of all nodes of an entry of "nodes". */
static int take_node(const struct mf_config *config, const char *name, size_t len,
		     struct mf_capture_request *out, char *err, size_t errlen)
{
	bool found = false;

	for (unsigned int i = 0; i < config->sw.ports; i++) {
		const struct mf_config_node *n = &config->node[i];

		if (!n->up || (!is(name, len, n->name) && !is(name, len, config->group[n->group].name)))
			continue;
		if (out->link[i])
			return argument_refuse(err, errlen, "--capture: link '%s' is named twice", n->name);
		found = out->link[i] = true;
	}
	return found ? 0
		     : argument_refuse(err, errlen,
				       "--capture: link '%.*s' is that of no node of this fabric", (int)len,
				       name);
}

static int take_links(const struct mf_config *config, const char *list, size_t len,
		      struct mf_capture_request *out, char *err, size_t errlen)
{
	const char *end = list + len;
	int rc = 0;

	while (rc == 0 && list <= end) {
		size_t n = strcspn(list, "+,");

		rc = take_node(config, list, n, out, err, errlen);
		list += n + 1;
	}
	return rc;
}

static int take_direction(const char *dir, size_t len, struct mf_capture_request *out, char *err,
			  size_t errlen)
{
	out->up = is(dir, len, "up");
	out->down = is(dir, len, "down");
	return out->up || out->down
		       ? 0
		       : argument_refuse(err, errlen, "--capture: dir '%.*s' is neither up nor down",
					 (int)len, dir);
}

static int take_file(const char *arg, size_t len, struct mf_capture_request *out, char *err, size_t errlen)
{
	if (len == 0 || len >= sizeof(out->file))
		return argument_refuse(err, errlen, "--capture: no name of a file, or too long a name");
	memcpy(out->file, arg, len);
	out->file[len] = '\0';
	return 0;
}

int capture_option_read(const struct mf_config *config, const char *arg, struct mf_capture_request *out,
			char *err, size_t errlen)
{
	size_t len = strcspn(arg, ",");
	bool link = false, dir = false;
	int rc;

	*out = (struct mf_capture_request){.up = true, .down = true};
	rc = take_file(arg, len, out, err, errlen);
	while (rc == 0 && arg[len] == ',') {
		arg += len + 1;
		len = strcspn(arg, ",");
		if (begins(arg, LINK) && !link) {
			link = true;
			rc = take_links(config, arg + strlen(LINK), len - strlen(LINK), out, err, errlen);
		} else if (begins(arg, DIR) && !dir) {
			dir = true;
			rc = take_direction(arg + strlen(DIR), len - strlen(DIR), out, err, errlen);
		} else {
			rc = argument_refuse(err, errlen,
					     "--capture: '%.*s' is neither link=, nor dir=, once", (int)len,
					     arg);
		}
	}
	for (unsigned int i = 0; i < config->sw.ports && !link; i++)
		out->link[i] = config->node[i].up;
	return rc;
}

void capture_option_files(const char *const *args, unsigned int n, struct mf_files *files)
{
	char file[sizeof(((struct mf_capture_request *)NULL)->file)];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%.*s", (int)strcspn(args[i], ","), args[i]);
		mf_files_written(files, "--capture", file);
	}
}

int capture_option_open(const struct mf_config *config, const char *const *args, unsigned int n,
			struct mf_captures **out, char *err, size_t errlen)
{
	struct mf_capture_request *request = calloc(n, sizeof(*request));
	int rc = 0;

	*out = NULL;
	if (n > 0 && request == NULL)
		rc = argument_refuse(err, errlen, "--capture: no memory");
	for (unsigned int i = 0; i < n && rc == 0; i++)
		rc = capture_option_read(config, args[i], &request[i], err, errlen);
	if (rc == 0 && n > 0) {
		*out = mf_captures_open(config, request, n, err, errlen);
		rc = *out != NULL ? 0 : -EINVAL;
	}
	free(request);
	return rc;
}
