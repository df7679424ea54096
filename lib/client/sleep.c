/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that sleep between operations. */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "client/client.h"

#define NS_SECOND INT64_C(1000000000)

int64_t memfab_next(struct memfab *m)
{
	mf_time by;

	if (mf_session_forked())
		return -EPERM;
	by = mf_session_next(m->session);
	return by != MF_NEVER ? (int64_t)(by / MF_US(1)) : INT64_MAX;
}

int memfab_fd(struct memfab *m)
{
	return mf_session_forked() ? -EPERM : mf_session_wake_fd(m->session);
}

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS_SECOND + t.tv_nsec;
}

/** @param until  ns; < 0: for ever @return 0; -ETIMEDOUT: it has come; -EINTR */
static int sleep_until(int fd, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec left;
	int64_t ns;
	int n;

	if (until < 0)
		return ppoll(&p, 1, NULL, NULL) < 0 ? -errno : 0;
	ns = until - clock_ns();
	if (ns <= 0)
		return -ETIMEDOUT;
	left = (struct timespec){.tv_sec = (time_t)(ns / NS_SECOND), .tv_nsec = (long)(ns % NS_SECOND)};
	n = ppoll(&p, 1, &left, NULL);
	return n < 0 ? -errno : 0;
}

int memfab_wait(struct memfab *m, int64_t timeout)
{
	int64_t begin = clock_ns(), until = -1;
	int fd = memfab_fd(m), rc = 0;

	if (fd < 0)
		return fd;
	if (timeout >= 0)
		until = timeout < (INT64_MAX - begin) / 1000 ? begin + timeout * 1000 : INT64_MAX;
	while (rc == 0) {
		if (mf_session_next(m->session) == 0)
			return 0;
		rc = sleep_until(fd, until);
		if (rc == 0 && mf_session_turned(m->session))
			return 0;
	}
	return rc;
}
