/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An address space that two compute nodes share. One makes it, lets the other one in, and hands over a
 * ticket: the token of the space and a pointer into it. The other one joins. The nodes are two processes,
 * and the ticket is a file (--make, --join); or this process is both.
 */
#ifndef SHARE_H
#define SHARE_H

#include <unistd.h>

#include "example.h"

/* What crosses between the nodes. Pointers mean the same at all nodes of a fabric. */
struct ticket {
	struct memfab_token token;
	uint64_t root; /* pointer to a struct head, and what the program has behind it */
	uint64_t number, threads; /* --number and --threads of who made the space */
};

/* In the space. */
struct head {
	uint64_t done; /* threads that have finished, of all nodes */
	uint64_t spare[7];
};

/* A compute node that this process is. */
struct side {
	struct example *e;
	unsigned int number; /* 0: it makes the space; 1: it joins */
	const char *node; /* name; NULL: the first */
	struct memfab_queue *q; /* of main(); threads have their own */
	struct memfab_space *space;
	struct ticket ticket;
};

/* Under another name first: who waits for the file finds all of it. */
static inline int ticket_write(const struct example *e, const char *path, const struct ticket *t)
{
	char name[4096];
	FILE *file;
	size_t n;

	if (snprintf(name, sizeof(name), "%s.new", path) >= (int)sizeof(name))
		return complain(e, path, "the name is too long");
	file = fopen(name, "wb");
	if (file == NULL)
		return complain(e, name, "cannot be written");
	n = fwrite(t, sizeof(*t), 1, file);
	if (fclose(file) != 0 || n != 1 || rename(name, path) != 0)
		return complain(e, path, "cannot be written");
	return 0;
}

/* Waits for the file, and takes it away: a later run is not to find it. */
static inline int ticket_read(const struct example *e, const char *path, struct ticket *t)
{
	FILE *file;
	size_t n;

	for (unsigned int i = 0; (file = fopen(path, "rb")) == NULL; i++) {
		if (i == 6000)
			return complain(e, path, "has not come within a minute");
		usleep(10000);
	}
	n = fread(t, sizeof(*t), 1, file);
	fclose(file);
	remove(path);
	return n == 1 ? 0 : complain(e, path, "is no ticket");
}

/* @param size  octets at the root, which are zero */
static inline int side_make(struct side *s, uint64_t size)
{
	struct example *e = s->e;
	int with = memfab_node(e->fabric, e->with), rc;

	if (with < 0)
		return complain(e, e->with, "no such node");
	rc = memfab_space_new(s->q, e->target != NULL ? &e->memory : NULL, 1, &s->space);
	if (rc != 0)
		return complain_of(e, "the space cannot be made", rc);
	rc = memfab_space_grant(s->q, s->space, with, MEMFAB_RIGHTS_WRITE);
	if (rc != 0)
		return complain_of(e, e->with, rc);
	rc = memfab_ralloc(s->q, s->space, size, 0, &s->ticket.root);
	if (rc != 0)
		return complain_of(e, "memory cannot be allocated", rc);
	memfab_space_token(s->space, &s->ticket.token);
	s->ticket.number = e->number;
	s->ticket.threads = e->threads;
	return e->make != NULL ? ticket_write(e, e->make, &s->ticket) : 0;
}

static inline int side_join(struct side *s)
{
	struct example *e = s->e;
	int rc;

	if (e->join != NULL && ticket_read(e, e->join, &s->ticket) != 0)
		return 1;
	e->number = s->ticket.number;
	e->threads = s->ticket.threads;
	rc = memfab_space_join(s->q, &s->ticket.token, &s->space);
	return rc == 0 ? 0 : complain_of(e, "the space cannot be joined", rc);
}

/* The sides of this process. @return how many, 1 or 2; 0: it has complained */
static inline unsigned int sides_open(struct example *e, uint64_t size, struct side side[2])
{
	unsigned int first = e->join != NULL, end = e->make != NULL ? 1 : 2, n = 0;

	for (unsigned int i = first; i < end; i++, n++) {
		struct side *s = &side[n];

		*s = (struct side){.e = e, .number = i, .node = e->node};
		if (n == 1) {
			s->node = e->with;
			s->ticket = side[0].ticket;
		}
		s->q = example_queue_at(e, s->node, 64);
		if ((i == 0 ? side_make(s, size) : side_join(s)) != 0)
			return 0;
	}
	return n;
}

/* A thread has finished. @return 0 or -errno */
static inline int side_done(const struct side *s, struct memfab_queue *q)
{
	uint64_t before;

	return memfab_ratomic(q, s->space, MEMFAB_FETCH_ADD, s->ticket.root, 1, &before);
}

/* Waits until all threads have, of both nodes. @return 0 or -errno */
static inline int sides_wait(const struct side *s)
{
	uint64_t done = 0;
	int rc = 0;

	while (rc == 0 && done < 2 * s->ticket.threads) {
		rc = memfab_rread(s->q, s->space, s->ticket.root, &done, sizeof(done));
		usleep(100);
	}
	return rc;
}

/* The one that made the space ends it, and all its memory is free. */
static inline void sides_close(struct side *side, unsigned int n)
{
	while (n-- > 0) {
		memfab_space_end(side[n].q, side[n].space);
		memfab_queue_free(side[n].q);
	}
	memfab_close(side[0].e->fabric);
}

#endif
