/* SPDX-License-Identifier: BSD-3-Clause */
/* The console: commands out of a file, and the prompt. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmdline_socket.h>

#include "cmd.h"
#include "interrupt.h"
#include "period.h"
#include "program.h"

#define PROMPT "memfab-perf> "
#define CTRL_C 3
#define LOOK_MS 100 /* how soon a signal is seen */
#define LINE 512

static bool signalled(void)
{
	return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

/* A file of commands */

static const char *parse_fault(int rc)
{
	switch (rc) {
	case CMDLINE_PARSE_AMBIGUOUS:
		return "ambiguous command";
	case CMDLINE_PARSE_BAD_ARGS:
		return "bad arguments";
	default:
		return "no such command, see help";
	}
}

/** @return false: the line is faulty, and it has been said */
static bool run_line(struct session *s, struct cmdline *cl, char *line, unsigned int number)
{
	int rc;

	line[strcspn(line, "\r\n")] = '\0';
	printf("%s%s\n", PROMPT, line);
	strcat(line, "\n");
	s->fault[0] = '\0';
	rc = cmdline_parse(cl, line);
	fflush(stdout);
	if (rc >= 0 && s->fault[0] == '\0')
		return true;
	fprintf(stderr, "memfab-perf: %s:%u: %s\n", s->options->commands, number,
		s->fault[0] != '\0' ? s->fault : parse_fault(rc));
	s->status = USAGE;
	return false;
}

/** @return false: the file is faulty, and it has been said */
static bool refuse_file(struct session *s, unsigned int number, const char *why)
{
	if (number == 0)
		fprintf(stderr, "memfab-perf: %s: %s\n", s->options->commands, why);
	else
		fprintf(stderr, "memfab-perf: %s:%u: %s\n", s->options->commands, number, why);
	s->status = USAGE;
	return false;
}

/** Reads a line, of text and not for ever. @return 1, 0: there is none, or -1: it is faulty, has been said */
static int read_line(struct session *s, FILE *file, char *line, unsigned int number)
{
	size_t len = 0;
	int c = 0;

	errno = 0;
	while (len < LINE - 1 && c != '\n' && (c = fgetc(file)) != EOF && c != '\0')
		line[len++] = (char)c;
	line[len] = '\0';
	if (ferror(file)) /* of a folder: only now */
		refuse_file(s, 0, strerror(errno != 0 ? errno : EIO));
	else if (c == '\0')
		refuse_file(s, number, "is no text");
	else if (c != '\n' && c != EOF)
		refuse_file(s, number, "the line is too long");
	else
		return len > 0;
	return -1;
}

/** @return false: it is faulty; nothing behind the faulty line was done */
static bool run_file(struct session *s, struct cmdline *cl)
{
	FILE *file = fopen(s->options->commands, "r");
	unsigned int number = 0;
	char line[LINE + 2];
	bool good = true;
	int rc = 1;

	if (file == NULL)
		return refuse_file(s, 0, strerror(errno));
	while (good && !s->quit && !signalled() && (rc = read_line(s, file, line, ++number)) > 0)
		good = run_line(s, cl, line, number);
	fclose(file);
	return good && rc >= 0;
}

/* The prompt */

static void redisplay(struct cmdline *cl)
{
	fflush(stdout);
	rdline_redisplay(cmdline_get_rdline(cl));
}

static void take_key(struct session *s, struct cmdline *cl, char key)
{
	if (key == CTRL_C && session_running(s)) {
		printf("\n");
		session_stop(s);
		redisplay(cl);
	} else if (cmdline_in(cl, &key, 1) < 0) {
		s->quit = true;
	}
}

static void take_keys(struct session *s, struct cmdline *cl)
{
	char keys[256];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		s->quit = true;
	for (ssize_t i = 0; i < n && !s->quit; i++)
		take_key(s, cl, keys[i]);
}

static void prompt(struct session *s, struct cmdline *cl)
{
	struct period period;

	period_init(&period, s->options->stats_period);
	while (!s->quit && !signalled()) {
		struct pollfd fd[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				       {.fd = s->wake, .events = POLLIN}};

		if (poll(fd, 2, LOOK_MS) < 0 && errno != EINTR)
			return;
		if ((fd[1].revents & POLLIN) != 0) {
			printf("\n");
			session_report(s);
			redisplay(cl);
		}
		if (period_over(&period) && session_running(s)) {
			show_port_stats(stdout, &s->view, -1);
			redisplay(cl);
		}
		if (fd[0].revents != 0)
			take_keys(s, cl);
	}
}

/* Both */

static void run_prompt(struct session *s, cmdline_parse_ctx_t *commands)
{
	struct termios before, keys;
	bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	struct cmdline *cl;

	/* cmdline_stdin_new() shows the prompt first: a Ctrl-D right behind it would end a line, not us. */
	if (terminal) {
		keys = before;
		keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
		tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	}
	cl = cmdline_stdin_new(commands, PROMPT);
	if (cl == NULL) {
		fprintf(stderr, "memfab-perf: no memory for the prompt\n");
		s->status = 1;
	} else {
		s->prompting = true;
		prompt(s, cl);
		cmdline_stdin_exit(cl);
		printf("\n");
	}
	if (terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void run_commands(struct session *s, cmdline_parse_ctx_t *commands)
{
	struct cmdline *cl = cmdline_new(commands, "", -1, STDOUT_FILENO);

	if (cl == NULL) {
		s->status = 1;
		return;
	}
	if (run_file(s, cl) && !s->options->interactive && !s->quit && !s->asked_test.forever)
		session_wait(s, 0); /* a test that ends by itself is waited for */
	cmdline_free(cl);
}

void *console_main(void *session)
{
	struct session *s = session;
	cmdline_parse_inst_t *commands[CMD_MAX];

	setvbuf(stdout, NULL, _IOLBF, 0); /* in step with what the command line writes itself */
	cmd_all(s, commands);
	if (s->options->commands != NULL)
		run_commands(s, commands);
	if (s->options->interactive && !s->quit && s->status != USAGE)
		run_prompt(s, commands);
	if (session_running(s))
		session_stop(s);
	else
		session_report(s);
	fflush(stdout);
	pthread_mutex_lock(&s->run.lock);
	s->over = true;
	pthread_cond_broadcast(&s->run.changed);
	pthread_mutex_unlock(&s->run.lock);
	return NULL;
}
