/* SPDX-License-Identifier: BSD-3-Clause */
/* The word of a command that names a port. */
#include <string.h>

#include "base/mf_number.h"
#include "cmd.h"

#define ALL "all"

/* librte_cmdline asks tokens without saying for whom. */
static const struct mf_config *fabric;

void cmd_port_config(const struct mf_config *config)
{
	fabric = config;
}

/** The nth name that completes: "all", then those of the nodes. NULL: there are less */
static const char *name_at(unsigned int n)
{
	if (n == 0)
		return ALL;
	for (unsigned int p = 0; p < fabric->slots; p++)
		if (fabric->node[p].up && --n == 0)
			return fabric->node[p].name;
	return NULL;
}

static int parse(cmdline_parse_token_hdr_t *token, const char *text, void *result, unsigned int capacity)
{
	size_t len = 0;

	(void)token;
	while (!cmdline_isendoftoken(text[len]))
		len++;
	if (len == 0 || len >= STR_TOKEN_SIZE || (result != NULL && len >= capacity))
		return -1;
	if (result != NULL) {
		memcpy(result, text, len);
		((char *)result)[len] = '\0';
	}
	return (int)len;
}

static int names(cmdline_parse_token_hdr_t *token)
{
	(void)token;
	return (int)fabric->nodes + 1;
}

static int name(cmdline_parse_token_hdr_t *token, int n, char *text, unsigned int capacity)
{
	const char *found = n >= 0 ? name_at((unsigned int)n) : NULL;

	(void)token;
	if (found == NULL || strlen(found) >= capacity)
		return -1;
	strcpy(text, found);
	return 0;
}

static int help(cmdline_parse_token_hdr_t *token, char *text, unsigned int capacity)
{
	(void)token;
	snprintf(text, capacity, "PORT, node, or all");
	return 0;
}

struct cmdline_token_ops cmd_port_ops = {
	.parse = parse,
	.complete_get_nb = names,
	.complete_get_elt = name,
	.get_help = help,
};

bool cmd_port(struct session *s, const char *command, const char *word, int *port)
{
	const struct mf_config *config = s->run.config;
	uint64_t number;
	int n;

	*port = -1;
	if (strcmp(word, ALL) == 0)
		return true;
	if (mf_number_whole(word, &number) == 0 && number < config->slots)
		n = (int)number;
	else
		n = mf_config_node(config, word);
	if (n >= 0 && config->node[n].up) {
		*port = n;
		return true;
	}
	session_fault(s, "%s: there is no node '%s'", command, word);
	return false;
}
