/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_interrupts.h>

#include "eal.h"
#include "wall/mf_eal.h"

/** Whether an option is there, with or without a value. @return the value; NULL: it is not */
static const char *find(const struct eal_args *a, const char *option)
{
	size_t len = strlen(option);

	for (int i = 0; i < a->count; i++) {
		const char *arg = a->argv[i];

		if (strncmp(arg, option, len) == 0 && arg[len] == '=')
			return arg + len + 1;
		if (strcmp(arg, option) == 0)
			return i + 1 < a->count ? a->argv[i + 1] : "";
	}
	return NULL;
}

/** What EAL takes and waits for ever, or refuses with a word about something else. @return why; NULL: good */
static const char *refuse(const struct eal_args *a)
{
	const char *type = find(a, "--proc-type");

	if (type != NULL && strcmp(type, "secondary") == 0)
		return "--proc-type: memfab is a primary process";
	if (find(a, "--no-huge") != NULL && find(a, "--in-memory") != NULL)
		return "--in-memory is for hugepages; with --no-huge give -m 512 --no-shconf in its place";
	return NULL;
}

/** The folder on the way to a driver that anybody may write to, or "": EAL loads none from below it. */
static void open_folder(const char *driver, char folder[PATH_MAX])
{
	struct stat st;
	char *slash;

	if (realpath(driver, folder) == NULL || stat(folder, &st) != 0)
		folder[0] = '\0'; /* EAL looks for it elsewhere, and says what it finds */
	if (folder[0] != '\0' && S_ISDIR(st.st_mode) && (st.st_mode & S_IWOTH))
		return;
	while ((slash = strrchr(folder, '/')) != NULL) {
		*slash = '\0';
		if (stat(slash == folder ? "/" : folder, &st) == 0 && (st.st_mode & S_IWOTH))
			return;
	}
}

/** Each -d. @return false with one line in err */
static bool loads_drivers(const struct eal_args *a, char *err, size_t errlen)
{
	char folder[PATH_MAX];

	for (int i = 0; i < a->count; i++) {
		const char *arg = a->argv[i];

		if (strncmp(arg, "-d", 2) != 0)
			continue;
		arg = arg[2] != '\0' ? arg + 2 : i + 1 < a->count ? a->argv[++i] : "";
		open_folder(arg, folder);
		if (folder[0] == '\0')
			continue;
		snprintf(err, errlen,
			 "-d %s: EAL loads no driver from below %s, which anybody may write to: install it "
			 "(meson install), or copy it to a folder of root's",
			 arg, folder);
		return false;
	}
	return true;
}

/**
 * EAL answers a wrong option with a hundred lines of usage on standard output, under which what it says of
 * the option is lost. Whoever asks for them gets them.
 */
static int init(const struct eal_args *a, int argc, char **argv)
{
	FILE *out = stdout, *nowhere = NULL;
	int rc;

	if (find(a, "-h") == NULL && find(a, "--help") == NULL)
		nowhere = fopen("/dev/null", "w");
	if (nowhere != NULL)
		stdout = nowhere;
	rc = mf_eal_init(argc, argv);
	stdout = out;
	if (nowhere != NULL)
		fclose(nowhere);
	return rc;
}

/** The arguments of the command line behind the name of the program; EAL wants to write to the array. */
static int start_given(const struct eal_args *a)
{
	char **argv = calloc((size_t)a->count + 2, sizeof(*argv)), *name = strdup(a->program);
	int rc = -ENOMEM;

	if (argv != NULL && name != NULL) {
		argv[0] = name;
		memcpy(argv + 1, a->argv, (size_t)a->count * sizeof(*argv));
		rc = init(a, a->count + 1, argv);
	}
	free(argv);
	free(name);
	return rc;
}

/** Roles that may have an lcore each: nodes, switches, schedulers. A port has that of a role at its links. */
static unsigned int count_roles(const struct mf_config *config, const struct mf_process_roles *plays)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->slots; i++)
		n += plays != NULL ? plays->node[i] : config->node[i].up;
	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		if (plays == NULL || plays->sw[k])
			n += config->switches == 0 ? 2 : 1;
	return n;
}

/**
 * The first of its roles among all of the fabric. Processes of one fabric on one machine begin at different
 * CPUs, then, as long as there are enough.
 */
static unsigned int first_role(const struct mf_config *config, const struct mf_process_roles *plays)
{
	unsigned int at = 0;

	for (unsigned int i = 0; plays != NULL && i < config->slots && !plays->node[i]; i++)
		at += config->node[i].up;
	return at;
}

static int start_chosen(const struct eal_args *a, const struct mf_config *config,
			const struct mf_process_roles *plays)
{
	return mf_eal_start(a->program, config, count_roles(config, plays), first_role(config, plays),
			    a->telemetry);
}

void eal_split(struct eal_args *a, const char *program, int *argc, char ***argv)
{
	*a = (struct eal_args){.program = program};
	for (int i = 1; i < *argc; i++)
		if (strcmp((*argv)[i], "--") == 0) {
			a->given = i > 1;
			a->argv = *argv + 1;
			a->count = i - 1;
			*argc -= i;
			*argv += i;
			return;
		}
}

int eal_start(const struct eal_args *a, const struct mf_config *config, const struct mf_process_roles *plays,
	      enum mf_clock clock, char *err, size_t errlen)
{
	const char *why = clock == MF_CLOCK_WALL && a->given ? refuse(a) : NULL;
	char words[128];
	int rc = why != NULL ? -EINVAL : 0;

	if (clock == MF_CLOCK_WALL && a->given && !loads_drivers(a, err, errlen))
		return -EINVAL;
	if (rc == 0 && clock == MF_CLOCK_WALL)
		rc = a->given ? start_given(a) : start_chosen(a, config, plays);
	if (rc == -EINVAL && why == NULL && a->given)
		why = "its lines above say why, -h before the -- lists all";
	if (rc == -ENOTCONN)
		snprintf(err, errlen, "--telemetry: %s", mf_eal_why(rc, words, sizeof(words)));
	else if (rc != 0)
		snprintf(err, errlen, "cannot start DPDK's EAL%s: %s", a->given ? " with these options" : "",
			 why != NULL ? why : mf_eal_why(rc, words, sizeof(words)));
	else
		mf_eal_choose_variants(true);
	return rc;
}

/** In EAL's interrupt thread, which stays here until the process ends. */
static void rest(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
	for (;;)
		pause();
}

/**
 * EAL's cleanup unmaps its memory, and its interrupt thread goes on with the handles in it: those of a
 * memif's sockets stay registered when it is closed. So that thread is put to rest first; not by an alarm,
 * since the cleanup waits for the end of those.
 */
static void rest_interrupts(void)
{
	static atomic_bool rests;
	static struct rte_intr_handle *h; /* as long as that thread rests: for ever */
	int fd = eventfd(1, EFD_CLOEXEC);

	h = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (h == NULL || fd < 0 || rte_intr_fd_set(h, fd) != 0 ||
	    rte_intr_type_set(h, RTE_INTR_HANDLE_EXT) != 0 ||
	    rte_intr_callback_register(h, rest, &rests) != 0)
		return;
	while (!atomic_load(&rests))
		usleep(20);
}

void eal_stop(enum mf_clock clock)
{
	if (clock != MF_CLOCK_WALL)
		return;
	rest_interrupts();
	rte_eal_cleanup();
}
