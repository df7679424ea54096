/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace is read from: a regular file is read where it is. What cannot be read twice, such as a pipe,
 * is copied while it is read, into a file without a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload/trace_priv.h"

#define COPY_MAX (UINT64_C(4) << 30)

struct trace_file {
	int fd;
	int copy; /**< -1: none */
	off_t begin; /**< of the regular file; -1: it is a stream */
	uint64_t copied;
};

/** Opening without waiting would find a pipe at its end before anybody has written into it. */
static int open_path(const char *path)
{
	struct stat st;
	int wait = stat(path, &st) == 0 && S_ISFIFO(st.st_mode) ? 0 : O_NONBLOCK;

	if (strcmp(path, "-") == 0)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | wait);
}

/** A file that nobody else finds, and that is gone when it is closed. @return descriptor or -errno */
static int open_copy(void)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int fd, rc;

	if (asprintf(&path, "%s/memfab-trace-XXXXXX", folder != NULL ? folder : "/tmp") < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	rc = fd < 0 ? -errno : fd;
	if (fd >= 0)
		unlink(path);
	free(path);
	return rc;
}

static int set_up(struct trace_file *f, bool again, const char *path, char *err, size_t errlen)
{
	struct stat st;

	if (fstat(f->fd, &st) != 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode)) {
		snprintf(err, errlen, "%s: is neither a file nor a pipe", path);
		return -EINVAL;
	}
	/* Reads wait for who writes. */
	if (fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) & ~O_NONBLOCK) != 0)
		return -errno;
	if (S_ISREG(st.st_mode)) {
		f->begin = lseek(f->fd, 0, SEEK_CUR);
		return f->begin < 0 ? -errno : 0;
	}
	f->copy = again ? open_copy() : -1;
	return again && f->copy < 0 ? f->copy : 0;
}

int trace_file_open(struct trace_file **file, const char *path, bool again, char *err, size_t errlen)
{
	struct trace_file *f = malloc(sizeof(*f));
	int rc;

	*file = NULL;
	if (f == NULL) {
		snprintf(err, errlen, "%s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	*f = (struct trace_file){.fd = open_path(path), .copy = -1, .begin = -1};
	err[0] = '\0';
	rc = f->fd < 0 ? -errno : set_up(f, again, path, err, errlen);
	if (rc == 0) {
		*file = f;
		return 0;
	}
	if (err[0] == '\0')
		snprintf(err, errlen, "%s: %s", path, strerror(-rc));
	trace_file_close(f);
	return rc;
}

void trace_file_close(struct trace_file *f)
{
	if (f == NULL)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->copy >= 0)
		close(f->copy);
	free(f);
}

static int copy(struct trace_file *f, const char *buf, size_t len)
{
	f->copied += len;
	if (f->copied > COPY_MAX)
		return -EFBIG;
	while (len > 0) {
		ssize_t n = write(f->copy, buf, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		buf += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

ssize_t trace_file_read(void *file, void *buf, size_t room)
{
	struct trace_file *f = file;
	ssize_t n;
	int rc = 0;

	do
		n = read(f->fd, buf, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (f->copy >= 0)
		rc = copy(f, buf, (size_t)n);
	return rc != 0 ? rc : n;
}

/* The copy takes the place of the stream. */
int trace_file_rewind(struct trace_file *f)
{
	if (f->copy >= 0) {
		close(f->fd);
		f->fd = f->copy;
		f->copy = -1;
		f->begin = 0;
	}
	if (f->begin < 0)
		return -ESPIPE;
	return lseek(f->fd, f->begin, SEEK_SET) < 0 ? -errno : 0;
}
