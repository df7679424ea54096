/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files a record is made of. */
#include "config/mf_config.h"
#include "file/mf_files.h"
#include "record/mf_record.h"
#include "run/mf_record_files.h"

static void add_role(const char *dir, const char *role, bool written, struct mf_files *files)
{
	char path[4096];

	record_path(path, sizeof(path), dir, role);
	if (written)
		mf_files_regular(files, "--record", path);
	else
		mf_files_read(files, "--replay", path);
}

void mf_record_files(const struct mf_config *config, const char *dir, bool written, struct mf_files *files)
{
	if (dir == NULL)
		return;
	if (written)
		mf_files_folder(files, "--record", dir);
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up)
			add_role(dir, config->node[i].name, written, files);
	for (unsigned int k = 0; k < mf_config_switch_count(config); k++) {
		add_role(dir, mf_config_switch_name(config, k), written, files);
		if (mf_config_sched_name(config, k) != NULL)
			add_role(dir, mf_config_sched_name(config, k), written, files);
	}
}
