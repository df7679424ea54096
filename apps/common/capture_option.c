/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "config/mf_config_query.h"

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

/** The link of a node, or those of all nodes of an entry of "nodes", or of racks. */
static int take_node(const struct mf_config *config, const char *name, size_t len,
		     struct mf_capture_request *out, char *err, size_t errlen)
{
	bool found = false;

	for (unsigned int i = 0; i < config->slots; i++) {
		const struct mf_config_node *n = &config->node[i];
		const struct mf_config_member m = mf_config_node_member(config, i);

		if (!n->up || !mf_config_means(config, name, len, &m))
			continue;
		if (n->direct)
			return argument_refuse(
				err, errlen,
				"--capture: link '%s' leads to another node, and is called '%s:%s'", n->name,
				mf_config_trunk_end(config, &config->trunk[n->to], 0),
				mf_config_trunk_end(config, &config->trunk[n->to], 1));
		if (out->link[i])
			return argument_refuse(err, errlen, "--capture: link '%s' is named twice", n->name);
		found = out->link[i] = true;
	}
	return found ? 0
		     : argument_refuse(err, errlen,
				       "--capture: link '%.*s' is that of no node of this fabric", (int)len,
				       name);
}

/** The switches of a name, or of those of an entry of "switches". @param set  empty: there are none */
static void switches(const struct mf_config *config, const char *name, size_t len,
		     struct mf_config_switch_set *set)
{
	char buf[MF_CONFIG_NAME_LEN];

	*set = (struct mf_config_switch_set){0};
	if (len >= sizeof(buf))
		return;
	memcpy(buf, name, len);
	buf[len] = '\0';
	mf_config_switches(config, buf, set);
}

static bool is_name(const char *name, size_t len, const char *of)
{
	return strlen(of) == len && strncmp(name, of, len) == 0;
}

/** Whether a link is one between these two nodes. */
static bool is_direct(const struct mf_config *config, const struct mf_config_trunk *t, const char *first,
		      size_t a, const char *second, size_t b)
{
	const char *one = mf_config_trunk_end(config, t, 0), *other = mf_config_trunk_end(config, t, 1);

	return t->direct && ((is_name(first, a, one) && is_name(second, b, other)) ||
			     (is_name(first, a, other) && is_name(second, b, one)));
}

/**
 * Links between switches, "A:B" or "A:B:NUMBER"; the names are those of switches, or of entries. Or the link
 * between two nodes.
 */
static int take_between(const struct mf_config *config, const char *name, size_t len,
			struct mf_capture_request *out, char *err, size_t errlen)
{
	const char *second = (const char *)memchr(name, ':', len) + 1;
	const char *third = memchr(second, ':', len - (size_t)(second - name));
	size_t b = third != NULL ? (size_t)(third - second) : len - (size_t)(second - name);
	struct mf_config_between ends;
	char *end = NULL;
	unsigned long number = third != NULL ? strtoul(third + 1, &end, 10) : 0;
	bool found = false;

	switches(config, name, (size_t)(second - 1 - name), &ends.end[0]);
	switches(config, second, b, &ends.end[1]);
	for (unsigned int i = 0; i < config->trunks && (third == NULL || end == name + len); i++) {
		const struct mf_config_trunk *t = &config->trunk[i];

		if ((third != NULL && mf_config_parallel(config, i) != number) ||
		    (t->direct ? !is_direct(config, t, name, (size_t)(second - 1 - name), second, b)
			       : !mf_config_is_between(&ends, t->a, t->b) &&
					 !mf_config_is_between(&ends, t->b, t->a)))
			continue;
		if (out->trunk[i])
			return argument_refuse(err, errlen, "--capture: link '%.*s' is named twice", (int)len,
					       name);
		found = out->trunk[i] = true;
	}
	return found ? 0
		     : argument_refuse(
			       err, errlen,
			       "--capture: there is no link '%.*s' between switches, or between nodes",
			       (int)len, name);
}

static int take_links(const struct mf_config *config, const char *list, size_t len,
		      struct mf_capture_request *out, char *err, size_t errlen)
{
	const char *end = list + len;
	int rc = 0;

	while (rc == 0 && list <= end) {
		size_t n = strcspn(list, "+,");

		rc = memchr(list, ':', n) != NULL ? take_between(config, list, n, out, err, errlen)
						  : take_node(config, list, n, out, err, errlen);
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
	out->trunk = calloc(config->trunks + 1, sizeof(*out->trunk));
	if (out->trunk == NULL)
		return argument_refuse(err, errlen, "--capture: no memory");
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
	for (unsigned int i = 0; i < config->slots && !link; i++)
		out->link[i] = config->node[i].up && !config->node[i].direct;
	for (unsigned int i = 0; i < config->trunks && !link; i++)
		out->trunk[i] = true;
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
	for (unsigned int i = 0; i < n && request != NULL; i++)
		free(request[i].trunk);
	free(request);
	return rc;
}
