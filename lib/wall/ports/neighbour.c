/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/ports/neighbour.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#define BOOT_ID 36 /* octets of text */
#define STARTED 22 /* field of stat, from 1 on; the third one is the state */

/** What the hash of a place is made of. */
struct life {
	char boot[BOOT_ID + 4]; /**< filled up with zeros */
	uint64_t space, thread, started;
};
static_assert(sizeof(struct life) == 40 + 3 * sizeof(uint64_t), "without padding");

/** The whole of a small file. @return false, with errno: it cannot be read */
static bool read_text(int fd, char *text, size_t room)
{
	ssize_t n = pread(fd, text, room - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static int open_of(uint32_t thread, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", thread, what);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/** A field of stat, behind the name, which may have anything in it. @return NULL: there is none */
static const char *field(const char *stat, int number)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at != NULL && i < number; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? at + 1 : NULL;
}

/** What host and PID namespace are. @return false: the system does not say */
static bool here(struct life *l)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && pread(fd, l->boot, BOOT_ID, 0) == BOOT_ID;
	struct stat space;

	if (fd >= 0)
		close(fd);
	if (!ok || stat("/proc/self/ns/pid", &space) != 0)
		return false;
	l->space = space.st_ino;
	return true;
}

/** The hash of a thread's place. @return 0: there is none */
static uint64_t hash_of(int stat, uint32_t thread)
{
	struct life l = {.thread = thread};
	char text[512];
	const char *started;

	if (!here(&l) || !read_text(stat, text, sizeof(text)))
		return 0;
	started = field(text, STARTED);
	if (started == NULL)
		return 0;
	l.started = strtoull(started, NULL, 10);
	return XXH64(&l, sizeof(l), 0);
}

struct mf_link_place neighbour_self(void)
{
	static __thread struct mf_link_place self;
	int fd;

	if (self.thread != 0)
		return self;
	self.thread = (uint32_t)gettid();
	fd = open_of(self.thread, "stat");
	if (fd < 0)
		return self;
	self.host = hash_of(fd, self.thread);
	close(fd);
	return self;
}

bool neighbour_find(struct neighbour *n, const struct mf_link_place *place)
{
	if (place->host == 0 || place->thread == 0)
		return false;
	n->stat = open_of(place->thread, "stat");
	if (n->stat < 0)
		return false;
	if (hash_of(n->stat, place->thread) != place->host) {
		neighbour_leave(n);
		return false;
	}
	n->schedstat = open_of(place->thread, "schedstat");
	return true;
}

void neighbour_leave(struct neighbour *n)
{
	if (n->stat >= 0)
		close(n->stat);
	if (n->schedstat >= 0)
		close(n->schedstat);
	*n = NEIGHBOUR_NONE;
}

/** A zombie has ended, and waits for its parent alone. */
static bool has_ended(const struct neighbour *n)
{
	char text[512];
	const char *state;

	if (!read_text(n->stat, text, sizeof(text)))
		return errno == ESRCH;
	state = field(text, 3);
	return state != NULL && (*state == 'Z' || *state == 'X');
}

enum neighbour_state neighbour_look(const struct neighbour *n, struct neighbour_cpu *cpu)
{
	uint64_t ran, waited, slices;
	char text[128];

	if (has_ended(n))
		return NEIGHBOUR_GONE;
	if (n->schedstat < 0 || !read_text(n->schedstat, text, sizeof(text)) ||
	    sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &waited, &slices) != 3 || ran == 0)
		return NEIGHBOUR_UNKNOWN;
	*cpu = (struct neighbour_cpu){.ran = MF_NS(ran), .slices = slices};
	return NEIGHBOUR_LIVES;
}
