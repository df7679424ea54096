/* SPDX-License-Identifier: BSD-3-Clause */
/* show: counters while a test runs, and as it left them. */
#include <string.h>

#include "cmd.h"
#include "output.h"

static void do_port(void *parsed, struct cmdline *cl, void *data)
{
	const struct words *w = parsed;
	struct session *s = data;
	int port;

	(void)cl;
	if (!cmd_port(s, "show port", w->word[3], &port))
		return;
	if (strcmp(w->word[2], "stats") == 0)
		show_port_stats(stdout, &s->view, port);
	else
		show_port_xstats(stdout, &s->view, port);
}

static void do_all_xstats(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed, (void)cl;
	show_port_xstats(stdout, &s->view, -1);
}

static void do_sched(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed, (void)cl;
	show_sched(stdout, &s->view);
}

static void do_node(void *parsed, struct cmdline *cl, void *data)
{
	const struct words *w = parsed;
	struct session *s = data;
	int port;

	(void)cl;
	if (!cmd_port(s, "show node", w->word[2], &port))
		return;
	for (int p = 0; p < (int)s->run.config->slots; p++)
		if (s->run.config->node[p].up && (port < 0 || p == port))
			show_node(stdout, &s->view, (unsigned int)p);
}

static void do_config(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed, (void)cl;
	show_config(stdout, &s->run, &s->test);
}

/** The engine replaces the workload before a run: until there is a fabric nobody else may look. */
static void do_json(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;
	json_t *json;

	(void)parsed, (void)cl;
	if (session_running(s)) {
		session_fault(s, "show config json: a test is running: stop it first");
		return;
	}
	json = mf_config_to_json(s->run.config);
	if (output_json(json, stdout) != 0)
		session_fault(s, "show config json: cannot write it");
	json_decref(json);
}

static struct cmd_port_token word_which = CMD_PORT(3);
static struct cmd_port_token word_node_which = CMD_PORT(2);
static cmdline_parse_token_string_t word_show = CMD_WORD(0, "show"), word_port = CMD_WORD(1, "port"),
				    word_what = CMD_WORD(2, "stats#xstats"),
				    word_xstats = CMD_WORD(2, "xstats"), word_sched = CMD_WORD(1, "sched"),
				    word_node = CMD_WORD(1, "node"), word_config = CMD_WORD(1, "config"),
				    word_json = CMD_WORD(2, "json");

static cmdline_parse_inst_t show_port = {
	.f = do_port,
	.help_str = "show port stats|xstats all|PORT: counters of the node's end of a link",
	.tokens = {(void *)&word_show, (void *)&word_port, (void *)&word_what, (void *)&word_which, NULL},
};
static cmdline_parse_inst_t show_xstats = {
	.f = do_all_xstats,
	.help_str = "show port xstats: of all of them",
	.tokens = {(void *)&word_show, (void *)&word_port, (void *)&word_xstats, NULL},
};
static cmdline_parse_inst_t show_scheduler = {
	.f = do_sched,
	.help_str = "show sched: the scheduler and the switch; or a stack above the MAC and its bridge",
	.tokens = {(void *)&word_show, (void *)&word_sched, NULL},
};
static cmdline_parse_inst_t show_a_node = {
	.f = do_node,
	.help_str = "show node all|PORT|NAME: a node and its client",
	.tokens = {(void *)&word_show, (void *)&word_node, (void *)&word_node_which, NULL},
};
static cmdline_parse_inst_t show_the_config = {
	.f = do_config,
	.help_str = "show config: how the test is set",
	.tokens = {(void *)&word_show, (void *)&word_config, NULL},
};
static cmdline_parse_inst_t show_json = {
	.f = do_json,
	.help_str = "show config json: the effective configuration of the fabric, as a fabric file",
	.tokens = {(void *)&word_show, (void *)&word_config, (void *)&word_json, NULL},
};

cmdline_parse_inst_t *const cmd_show[] = {
	&show_port, &show_xstats, &show_scheduler, &show_a_node, &show_the_config, &show_json, NULL};
