/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of the prompt: one file for each group. A command is a row of words, and what a word can
 * be is said by librte_cmdline's string tokens, which complete them: "a#b#c", or NULL for any.
 */
#ifndef CMD_H
#define CMD_H

#include <stddef.h>

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include "session.h"

#define CMD_WORDS 4

struct words {
	cmdline_fixed_string_t word[CMD_WORDS];
};

#define CMD_WORD(place, what) TOKEN_STRING_INITIALIZER(struct words, word[place], what)

/** A word that names a port: its number, the name of its node, or "all"; the names are completed. */
struct cmd_port_token {
	cmdline_parse_token_hdr_t hdr;
};

extern struct cmdline_token_ops cmd_port_ops;

#define CMD_PORT(place)                                                                       \
	{                                                                                     \
		.hdr = {.ops = &cmd_port_ops, .offset = offsetof(struct words, word[place]) } \
	}

/** NULL-terminated. The session is data of each of them (see cmd_all()). */
extern cmdline_parse_inst_t *const cmd_run[], *const cmd_set[], *const cmd_show[], *const cmd_clear[];

#define CMD_MAX 32

/** All commands, with the session as their data. @param all  NULL-terminated */
void cmd_all(struct session *s, cmdline_parse_inst_t *all[CMD_MAX]);

/** "help" */
void cmd_put_help(FILE *out);

/** Whose names they are: of one fabric for all prompts of the program. */
void cmd_port_config(const struct mf_config *config);

/** The port of such a word; "all" is -1. @return false: there is none, and that is a fault */
bool cmd_port(struct session *s, const char *command, const char *word, int *port);

#endif
