/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd.h"

static cmdline_parse_inst_t *const *const groups[] = {cmd_run, cmd_set, cmd_show, cmd_clear};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

void cmd_all(struct session *s, cmdline_parse_inst_t *all[CMD_MAX])
{
	unsigned int n = 0;

	for (size_t g = 0; g < GROUPS; g++)
		for (cmdline_parse_inst_t *const *c = groups[g]; *c != NULL && n + 1 < CMD_MAX; c++) {
			(*c)->data = s;
			all[n++] = *c;
		}
	all[n] = NULL;
	cmd_port_config(s->run.config);
}

void cmd_put_help(FILE *out)
{
	for (size_t g = 0; g < GROUPS; g++)
		for (cmdline_parse_inst_t *const *c = groups[g]; *c != NULL; c++)
			fprintf(out, "  %s\n", (*c)->help_str);
	fputs("\n  Tab completes. Ctrl-C ends the test that is running, Ctrl-D the program.\n", out);
}
