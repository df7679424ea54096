/* SPDX-License-Identifier: BSD-3-Clause */
/* clear: what is shown counts from 0 again. The report of a test is not concerned. */
#include <string.h>

#include "cmd.h"

static void do_port(void *parsed, struct cmdline *cl, void *data)
{
	const struct words *w = parsed;
	struct session *s = data;
	int port;

	(void)cl;
	if (!cmd_port(s, "clear port", w->word[3], &port))
		return;
	if (strcmp(w->word[2], "stats") == 0)
		clear_port_stats(&s->view, port);
	else
		clear_port_xstats(&s->view, port);
}

static void do_sched(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed, (void)cl;
	clear_sched(&s->view);
}

static struct cmd_port_token word_which = CMD_PORT(3);
static cmdline_parse_token_string_t word_clear = CMD_WORD(0, "clear"), word_port = CMD_WORD(1, "port"),
				    word_what = CMD_WORD(2, "stats#xstats"),
				    word_sched = CMD_WORD(1, "sched");

static cmdline_parse_inst_t clear_port = {
	.f = do_port,
	.help_str = "clear port stats|xstats all|PORT",
	.tokens = {(void *)&word_clear, (void *)&word_port, (void *)&word_what, (void *)&word_which, NULL},
};
static cmdline_parse_inst_t clear_scheduler = {
	.f = do_sched,
	.help_str = "clear sched",
	.tokens = {(void *)&word_clear, (void *)&word_sched, NULL},
};

cmdline_parse_inst_t *const cmd_clear[] = {&clear_port, &clear_scheduler, NULL};
