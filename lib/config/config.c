/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric file as a whole: reading it, its defaults, the order of its sections. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/cfg.h"

static const struct cfg_field top_fields[] = {
	{.key = "name", .kind = CFG_TEXT, CFG_AT(struct mf_config, name), .hi = MF_CONFIG_NAME_LEN * 2},
	{.key = "description",
	 .kind = CFG_TEXT,
	 CFG_AT(struct mf_config, description),
	 .hi = MF_CONFIG_TEXT_LEN},
	{.key = "seed", .kind = CFG_U64, CFG_AT(struct mf_config, seed), CFG_RANGE(0, INT64_MAX)},
	{.key = "clock"},
	{.key = "stack"},
	{.key = "timing"},
	{.key = "proto"},
	{.key = "scheduler"},
	{.key = "switch"},
	{.key = "topology"},
	{.key = "switches"},
	{.key = "routing"},
	{.key = "backup"},
	{.key = "memory"},
	{.key = "host"},
	{.key = "nodes"},
	{.key = "ports"},
	{.key = "link"},
	{.key = "links"},
	{.key = "regions"},
	{.key = "limits"},
	{.key = "ethernet"},
	{.key = "workload"},
	{.key = "faults"},
	{.key = "test_patterns"},
	{.key = "report"},
	{.key = "placement"},
	{.key = "watchdog", .kind = CFG_TIME, CFG_AT(struct mf_config, watchdog), CFG_RANGE(0, MF_SEC(3600))},
	{0},
};

/* The wall clock's times leave room for threads that wait for a CPU. */
static const struct mf_config default_config = {
	.seed = 1,
	.watchdog = MF_CONFIG_WATCHDOG,
	.clock = {[MF_CLOCK_WALL] = {.warmup = MF_MS(200), .duration = MF_SEC(3), .drain = MF_SEC(10)},
		  [MF_CLOCK_VIRTUAL] = {.warmup = MF_US(100), .duration = MF_MS(2), .drain = MF_MS(20)}},
	.sw = {.name = "sw0",
	       .l2_latency = MF_NS(400),
	       .mac_table = 1024,
	       .frames = 1024,
	       .frame_queue = 256 << 10,
	       .grant_timeout = {[MF_CLOCK_WALL] = MF_SEC(1), [MF_CLOCK_VIRTUAL] = MF_MS(1)},
	       .hold_timeout = {[MF_CLOCK_WALL] = MF_MS(500), [MF_CLOCK_VIRTUAL] = MF_US(100)}},
	.sched = {.policy = "pim",
		  .chunk = {[MF_CLOCK_WALL] = 4096, [MF_CLOCK_VIRTUAL] = 256},
		  .x = 3,
		  .window = 16 << 10},
	.limits = {.burst = 16 << 10, .rate_burst = 64},
};

static const struct cfg default_cfg = {
	.memory = {.size = 64 << 20, .numa_node = -1, .huge_pages = true},
	.memory_type = "flat",
	.host = {.mega = 1,
		 .queue = 1024,
		 .read_timeout = {[MF_CLOCK_WALL] = MF_SEC(5), [MF_CLOCK_VIRTUAL] = MF_CONFIG_TIMEOUT},
		 .write_timeout = {[MF_CLOCK_WALL] = MF_SEC(5), [MF_CLOCK_VIRTUAL] = MF_CONFIG_TIMEOUT},
		 .retry_timeout = {[MF_CLOCK_WALL] = MF_SEC(1), [MF_CLOCK_VIRTUAL] = MF_MS(1)},
		 .frames = 1024,
		 .frame_queue = 256 << 10},
	.link = {.period = 2560,
		 .propagation = MF_NS(10),
		 .quantum = 16,
		 .ber_window = MF_US(125),
		 .ring = 16},
};

static int read_all(struct cfg *c, const json_t *root)
{
	static const struct {
		const char *key;
		int (*fn)(struct cfg *c, const json_t *json);
	} before[] = {{"clock", cfg_clock},
		      {"proto", cfg_proto},
		      {"scheduler", cfg_sched},
		      {"switch", cfg_switch}},
	  after[] = {{"regions", cfg_regions},   {"limits", cfg_limits},      {"ethernet", cfg_ethernet},
		     {"workload", cfg_workload}, {"faults", cfg_faults},      {"test_patterns", cfg_tests},
		     {"report", cfg_report},     {"placement", cfg_placement}};
	int rc = cfg_object(c, root, top_fields, c->config);

	if (rc == 0)
		rc = cfg_watchdog(c);
	if (rc == 0) {
		cfg_push(c, "stack");
		rc = cfg_stack(c, json_object_get(root, "stack"));
		cfg_pop(c);
	}
	if (rc == 0) {
		cfg_push(c, "switch");
		cfg_push(c, "bridge");
		rc = cfg_bridge(c, json_object_get(json_object_get(root, "switch"), "bridge"));
		cfg_pop(c);
		cfg_pop(c);
	}
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]) && rc == 0; i++)
		rc = cfg_section(c, root, before[i].key, before[i].fn);
	if (rc == 0)
		rc = cfg_switches(c, root);
	if (rc == 0) {
		cfg_push(c, "timing");
		rc = cfg_timing(c, json_object_get(root, "timing"));
		cfg_pop(c);
	}
	if (rc == 0)
		rc = cfg_nodes(c, root);
	if (rc == 0)
		rc = cfg_links(c, root);
	if (rc == 0)
		rc = cfg_trunks(c, root);
	if (rc == 0)
		rc = cfg_section(c, root, "backup", cfg_backup);
	if (rc == 0)
		rc = cfg_ports_used(c);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]) && rc == 0; i++)
		rc = cfg_section(c, root, after[i].key, after[i].fn);
	if (rc == 0)
		rc = cfg_bridge_check(c);
	if (rc == 0)
		cfg_clock_finite(c->config, root);
	return rc;
}

/* The name of the file may say what it likes. */
static void one_line(char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	}
}

int mf_config_parse(const char *text, size_t len, const char *name, struct mf_config *config, char *err,
		    size_t errlen)
{
	struct cfg c = default_cfg;
	json_error_t error;
	json_t *root;
	int rc;

	*config = default_config;
	c.file = name;
	c.text = text;
	c.len = len;
	c.err = err;
	err[0] = '\0'; /* what is left out of traces is told here, too */
	c.errlen = errlen;
	c.config = config;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	c.list = calloc(MF_PORTS_MAX, sizeof(*c.list));
	if (c.list == NULL)
		rc = cfg_fail_memory(&c);
	else
		rc = root == NULL ? cfg_fail_json(&c, &error) : read_all(&c, root);
	free(c.list);
	free(c.topology.place);
	free(c.topology.wire);
	json_decref(root);
	if (rc != 0) {
		mf_config_free(config);
		one_line(err);
	}
	return rc;
}

/* @return octets of the file in *text, or -errno */
static ssize_t read_file(int fd, char **text)
{
	ssize_t len = 0, n = 1;

	*text = malloc(CFG_FILE_MAX + 1);
	if (*text == NULL)
		return -ENOMEM;
	while (n > 0 && len <= CFG_FILE_MAX) {
		n = read(fd, *text + len, (size_t)(CFG_FILE_MAX + 1 - len));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			len += n;
	}
	if (n >= 0)
		return len <= CFG_FILE_MAX ? len : -EFBIG;
	return -errno;
}

int mf_config_load(const char *path, struct mf_config *config, char *err, size_t errlen)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	ssize_t len = fd < 0 ? -errno : read_file(fd, &text);
	int rc;

	if (fd >= 0)
		close(fd);
	if (len < 0) {
		memset(config, 0, sizeof(*config));
		if (len == -EFBIG)
			snprintf(err, errlen, "%s: File too large: more than %d MiB", path,
				 CFG_FILE_MAX >> 20);
		else
			snprintf(err, errlen, "%s: %s", path, strerror((int)-len));
		one_line(err);
		rc = (int)len;
	} else {
		rc = mf_config_parse(text, (size_t)len, path, config, err, errlen);
	}
	free(text);
	return rc;
}

void mf_config_free(struct mf_config *config)
{
	free(config->node);
	free(config->group);
	free(config->switch_list);
	free(config->switch_group);
	free(config->trunk);
	free(config->ethernet);
	free(config->port);
	free(config->fault);
	free(config->test);
	free(config->region);
	cfg_workload_free(config);
	cfg_files_free(config);
	memset(config, 0, sizeof(*config));
}

int mf_config_node(const struct mf_config *config, const char *name)
{
	for (unsigned int p = 0; p < config->sw.ports; p++) {
		if (config->node[p].up && strcmp(config->node[p].name, name) == 0)
			return (int)p;
	}
	return -ENOENT;
}

const char *mf_config_role_name(enum mf_role role)
{
	return cfg_role_names[role];
}

const char *mf_config_mix_name(enum mf_mix mix)
{
	return cfg_mix_names[mix];
}

const char *mf_config_pattern_name(enum mf_config_pattern pattern)
{
	return cfg_pattern_names[pattern];
}
