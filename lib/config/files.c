/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files a fabric is made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"
#include "config/mf_memif.h"
#include "file/mf_files.h"

int cfg_file(struct cfg *c, const char *key, const char *path)
{
	struct mf_config *config = c->config;
	struct mf_config_file *more = realloc(config->file, (config->files + 1) * sizeof(*more)), *f;
	char where[512];

	if (more == NULL)
		return cfg_fail_memory(c);
	config->file = more;
	f = &more[config->files];
	cfg_where(c, key, where, sizeof(where));
	*f = (struct mf_config_file){.key = strdup(where), .path = strdup(path)};
	config->files++;
	return f->key != NULL && f->path != NULL ? 0 : cfg_fail_memory(c);
}

void cfg_files_free(struct mf_config *config)
{
	for (unsigned int i = 0; i < config->files; i++) {
		free(config->file[i].key);
		free(config->file[i].path);
	}
	free(config->file);
}

/** Arguments of devices that are paths. */
static const struct {
	const char *driver, *arg;
	bool written;
} device_files[] = {
	{"net_pcap", "rx_pcap", false},
	{"net_pcap", "tx_pcap", true},
	{"net_vhost", "iface", false},
	{"net_virtio_user", "path", false},
};
#define DEVICE_FILES (sizeof(device_files) / sizeof(device_files[0]))

/** One "key=value" of a device. */
static void add_argument(const char *device, const char *arg, size_t len, const char *key,
			 struct mf_files *files)
{
	char path[MF_CONFIG_DEVICE_LEN];
	size_t name = strcspn(arg, "=");

	if (name >= len)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)(len - name - 1), arg + name + 1);
	for (size_t i = 0; i < DEVICE_FILES; i++) {
		if (strncmp(device, device_files[i].driver, strlen(device_files[i].driver)) != 0 ||
		    strlen(device_files[i].arg) != name || strncmp(arg, device_files[i].arg, name) != 0)
			continue;
		if (device_files[i].written)
			mf_files_written(files, key, path);
		else
			mf_files_read(files, key, path);
	}
}

static void add_port(const struct mf_config *config, unsigned int port, struct mf_files *files)
{
	const char *device = config->port[port].device;
	struct memif m;
	char key[64];

	snprintf(key, sizeof(key), "ports[%u].device", port);
	if (memif_read(device, &m) && m.file)
		mf_files_read(files, key, m.path);
	for (const char *at = device + strcspn(device, ","); *at == ','; at += 1 + strcspn(at + 1, ","))
		add_argument(device, at + 1, strcspn(at + 1, ","), key, files);
}

void mf_config_files(const struct mf_config *config, const char *file, struct mf_files *files)
{
	mf_files_read(files, "FABRIC", file);
	for (unsigned int i = 0; i < config->files; i++)
		mf_files_input(files, config->file[i].key, config->file[i].path);
	for (unsigned int i = 0; i < config->ports; i++)
		add_port(config, i, files);
}
