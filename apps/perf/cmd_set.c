/* SPDX-License-Identifier: BSD-3-Clause */
/* set NAME VALUE: for the next start. */
#include <string.h>

#include "cmd.h"
#include "setting.h"

/** What only the test mixed has goes with it: there is no word that takes it back. */
static void forget_mix(struct test *t)
{
	if (t->kind != TEST_MIXED)
		memset(t->mix, 0, sizeof(t->mix));
}

static void do_set(void *parsed, struct cmdline *cl, void *data)
{
	const struct words *w = parsed;
	struct session *s = data;
	enum setting which = setting_find(w->word[1]);
	struct test t = s->test;
	char reason[256];

	(void)cl;
	if (setting_set(&t, which, w->word[2], reason, sizeof(reason)) != 0) {
		session_fault(s, "set %s: %s", w->word[1], reason);
		return;
	}
	if (which == SETTING_TEST)
		forget_mix(&t);
	s->test = t;
}

static void do_forever(void *parsed, struct cmdline *cl, void *data)
{
	struct session *s = data;

	(void)parsed, (void)cl;
	s->test.forever = true;
	s->test.iterations = 0;
	s->test.duration = 0;
}

static void do_verify(void *parsed, struct cmdline *cl, void *data)
{
	const struct words *w = parsed;
	struct session *s = data;

	(void)cl;
	s->test.unverified = w->word[2][1] == 'f';
}

static cmdline_parse_token_string_t
	word_set = CMD_WORD(0, "set"),
	word_value = CMD_WORD(2, NULL),
	word_name = CMD_WORD(1, "size#iters#duration#depth#clients#rate#burst#mix"),
	word_test = CMD_WORD(1, "test"),
	word_tests = CMD_WORD(2, "read_lat#write_lat#atomic_lat#read_bw#write_bw#mixed#loaded_latency#"
				 "bandwidth_matrix"),
	word_pattern = CMD_WORD(1, "pattern"),
	word_patterns = CMD_WORD(2, "uniform#incast#permutation#all-to-all#zipf"),
	word_until = CMD_WORD(1, "until"), word_stop = CMD_WORD(2, "stop"),
	word_verify = CMD_WORD(1, "verify"), word_switch = CMD_WORD(2, "on#off");

static cmdline_parse_inst_t set_value = {
	.f = do_set,
	.help_str =
		"set size|iters|duration|depth|clients|rate|burst|mix VALUE: as the options -s, -n, -D, -t, "
		"-q, --rate, --burst, --mix",
	.tokens = {(void *)&word_set, (void *)&word_name, (void *)&word_value, NULL},
};
static cmdline_parse_inst_t set_test = {
	.f = do_set,
	.help_str = "set test read_lat|write_lat|atomic_lat|read_bw|write_bw|mixed|loaded_latency|"
		    "bandwidth_matrix",
	.tokens = {(void *)&word_set, (void *)&word_test, (void *)&word_tests, NULL},
};
static cmdline_parse_inst_t set_pattern = {
	.f = do_set,
	.help_str = "set pattern uniform|incast|permutation|all-to-all|zipf",
	.tokens = {(void *)&word_set, (void *)&word_pattern, (void *)&word_patterns, NULL},
};
static cmdline_parse_inst_t set_forever = {
	.f = do_forever,
	.help_str = "set until stop: the test has no end of its own",
	.tokens = {(void *)&word_set, (void *)&word_until, (void *)&word_stop, NULL},
};
static cmdline_parse_inst_t set_verify = {
	.f = do_verify,
	.help_str = "set verify on|off: whether what is read is checked",
	.tokens = {(void *)&word_set, (void *)&word_verify, (void *)&word_switch, NULL},
};

cmdline_parse_inst_t *const cmd_set[] = {&set_value,   &set_test,   &set_pattern,
					 &set_forever, &set_verify, NULL};
