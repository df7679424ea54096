/* SPDX-License-Identifier: BSD-3-Clause */
/* start, stop, wait, help, quit. */
#include "argument.h"
#include "cmd.h"

static void do_start(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed, (void)cl;
	session_start(data);
}

static void do_stop(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed, (void)cl;
	session_stop(data);
}

static void do_wait(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed, (void)cl;
	if (session_running(s) && s->asked_test.forever)
		session_fault(s, "wait: the test ends when it is stopped: say how long");
	else
		session_wait(s, 0);
}

static void do_wait_time(void *parsed, struct cmdline *cl, void *data)
{
	const struct words *w = parsed;
	struct session *s = data;
	char reason[256];
	mf_time most;

	(void)cl;
	if (argument_time("wait", w->word[1], 1, &most, reason, sizeof(reason)) != 0)
		session_fault(s, "%s", reason);
	else
		session_wait(s, most);
}

static void do_help(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed, (void)cl, (void)data;
	cmd_put_help(stdout);
}

static void do_quit(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed;
	s->quit = true;
	if (cl != NULL)
		cmdline_quit(cl);
}

static cmdline_parse_token_string_t word_start = CMD_WORD(0, "start"), word_stop = CMD_WORD(0, "stop"),
				    word_wait = CMD_WORD(0, "wait"), word_time = CMD_WORD(1, NULL),
				    word_help = CMD_WORD(0, "help"), word_quit = CMD_WORD(0, "quit");

static cmdline_parse_inst_t start = {
	.f = do_start,
	.help_str = "start: begins the test that is set",
	.tokens = {(void *)&word_start, NULL},
};
static cmdline_parse_inst_t stop = {
	.f = do_stop,
	.help_str = "stop: ends the test and prints its report",
	.tokens = {(void *)&word_stop, NULL},
};
static cmdline_parse_inst_t wait_over = {
	.f = do_wait,
	.help_str = "wait: waits for the end of a test that has one, and prints its report",
	.tokens = {(void *)&word_wait, NULL},
};
static cmdline_parse_inst_t wait_time = {
	.f = do_wait_time,
	.help_str = "wait TIME: the same, but at most so long, by the wall clock: 500ms",
	.tokens = {(void *)&word_wait, (void *)&word_time, NULL},
};
static cmdline_parse_inst_t help = {
	.f = do_help,
	.help_str = "help: this list",
	.tokens = {(void *)&word_help, NULL},
};
static cmdline_parse_inst_t quit = {
	.f = do_quit,
	.help_str = "quit: stops what is running, and ends the program",
	.tokens = {(void *)&word_quit, NULL},
};

cmdline_parse_inst_t *const cmd_run[] = {&start, &stop, &wait_over, &wait_time, &help, &quit, NULL};
