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
	{.key = "name", .kind = CFG_TEXT, CFG_AT(struct mf_config, name), .hi = MF_CONFIG_TITLE_LEN},
	{.key = "description",
	 .kind = CFG_TEXT,
	 CFG_AT(struct mf_config, description),
	 .hi = MF_CONFIG_TEXT_LEN},
	{.key = "seed", .kind = CFG_U64, CFG_AT(struct mf_config, seed), CFG_RANGE(0, INT64_MAX)},
	{.key = "clock"},
	{.key = "tiers"},
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
	{.key = "racks"},
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
	.limits = {.burst = 16 << 10, .rate_burst = 64},
};

static const struct cfg default_cfg = {
	.memory = {.size = 64 << 20, .dram = MF_NEVER, .numa_node = -1, .huge_pages = true},
	.memory_type = "flat",
	.host = {.mega = 1,
		 .queue = 1024,
		 .read_timeout = {[MF_CLOCK_WALL] = MF_SEC(5), [MF_CLOCK_VIRTUAL] = CFG_BY_LINE},
		 .write_timeout = {[MF_CLOCK_WALL] = MF_SEC(5), [MF_CLOCK_VIRTUAL] = CFG_BY_LINE},
		 .retry_timeout = {[MF_CLOCK_WALL] = MF_SEC(1), [MF_CLOCK_VIRTUAL] = CFG_BY_LINE},
		 .frames = 1024,
		 .frame_queue = 256 << 10},
	.link = {.period = 2560,
		 .propagation = MF_NS(10),
		 .quantum = 16,
		 .ber_window = CFG_BY_LINE,
		 .ring = 16},
};

static int read_all(struct cfg *c, json_t *root)
{
	static const struct {
		const char *key;
		int (*fn)(struct cfg *c, const json_t *json);
	} after[] = {{"regions", cfg_regions},   {"limits", cfg_limits},      {"ethernet", cfg_ethernet},
		     {"workload", cfg_workload}, {"faults", cfg_faults},      {"test_patterns", cfg_tests},
		     {"report", cfg_report},     {"placement", cfg_placement}};
	int rc = cfg_object(c, root, top_fields, c->config);

	if (rc == 0)
		rc = cfg_racks(c, root);
	if (rc == 0)
		rc = cfg_watchdog(c);
	if (rc == 0)
		rc = cfg_section(c, root, "clock", cfg_clock);
	if (rc == 0)
		rc = cfg_tiers(c, root);
	if (rc == 0)
		rc = cfg_direct(c, root);
	if (rc == 0)
		rc = cfg_switches(c, root);
	if (rc == 0)
		rc = cfg_nodes(c, root);
	if (rc == 0)
		rc = cfg_racks_used(c);
	if (rc == 0)
		rc = cfg_links(c, root);
	if (rc == 0)
		rc = cfg_numbers(c);
	if (rc == 0)
		rc = cfg_trunks(c, root);
	if (rc == 0)
		rc = cfg_direct_links(c, root);
	if (rc == 0)
		rc = cfg_section(c, root, "backup", cfg_backup);
	if (rc == 0)
		rc = cfg_vm_fabric(c, root);
	if (rc == 0)
		cfg_by_line(c, root);
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
	c.vm = cfg_vm_default;
	c.file = name;
	c.text = text;
	c.len = len;
	c.err = err;
	err[0] = '\0'; /* what is left out of traces is told here, too */
	c.errlen = errlen;
	c.config = config;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	c.list = calloc(MF_NODES_MAX, sizeof(*c.list));
	if (c.list == NULL)
		rc = cfg_fail_memory(&c);
	else
		rc = root == NULL ? cfg_fail_json(&c, &error) : read_all(&c, root);
	free(c.list);
	free(c.more);
	free(c.topology.place);
	free(c.topology.wire);
	cfg_racks_free(&c);
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

static void free_sets(struct mf_config *config)
{
	for (unsigned int i = 0; i < config->ethernets; i++) {
		cfg_set_free(&config->ethernet[i].from);
		cfg_set_free(&config->ethernet[i].to);
	}
	for (unsigned int i = 0; i < config->faults; i++) {
		cfg_set_free(&config->fault[i].link);
		cfg_set_free(&config->fault[i].to);
	}
	for (unsigned int i = 0; i < config->tests; i++)
		cfg_set_free(&config->test[i].link);
	for (unsigned int i = 0; i < config->regions; i++) {
		cfg_set_free(&config->region[i].memory);
		cfg_set_free(&config->region[i].readers);
		cfg_set_free(&config->region[i].writers);
	}
}

void mf_config_free(struct mf_config *config)
{
	free_sets(config);
	cfg_tiers_free(config);
	free(config->end);
	free(config->node);
	free(config->group);
	free(config->switch_list);
	free(config->switch_group);
	free(config->trunk);
	free(config->rack);
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
	for (unsigned int p = 0; p < config->slots; p++) {
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
