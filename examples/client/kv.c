/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A key-value store in remote memory that nobody serves: clients alone keep it, by one-sided operations. The
 * table has records of 64 octets, found by hashing and linear probing:
 *
 *	version (odd: somebody writes it)  |  key (0: never used)  |  length (0: deleted)  |  value, 40 octets
 *
 * A read of 64 octets is answered at once, so a record is whole when its version is even. A writer takes a
 * record with a compare-and-swap of its version, writes the rest, then the next even version.
 */
#include <pthread.h>

#include "example.h"

#define RECORDS 4096
#define VALUE 40
#define KEYS 1000 /* of each thread */
#define THREADS_MAX 3 /* as many keys as leave a quarter of the records free */

struct record {
	uint64_t version, key, length;
	char value[VALUE];
};

struct client {
	struct example *e;
	struct memfab_queue *q;
	pthread_t thread;
	uint64_t first; /* of its keys */
	unsigned long puts, gets, deletes, retries;
	char model[KEYS][VALUE + 1]; /* empty: the key is not there */
	const char *wrong; /* what did not agree with the model */
	int error;
};

static uint64_t address(uint64_t record)
{
	return record % RECORDS * sizeof(struct record);
}

static uint64_t hash(uint64_t key)
{
	return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
}

/* Reads a record that nobody writes at the time. */
static int load(struct client *c, uint64_t at, struct record *r)
{
	int rc;

	while ((rc = memfab_read(c->q, c->e->memory, address(at), r, sizeof(*r))) == 0 && r->version % 2 != 0)
		c->retries++;
	return rc;
}

/* The record of a key, or the first one that was never used. */
static int find(struct client *c, uint64_t key, uint64_t *at, struct record *r)
{
	int rc;

	for (*at = hash(key); (rc = load(c, *at, r)) == 0; ++*at)
		if (r->key == key || r->key == 0)
			break;
	return rc;
}

/* Length 0: deletes. */
static int put(struct client *c, uint64_t key, const char *value, size_t length)
{
	struct record r;
	uint64_t at, old;
	int rc;

	for (;;) {
		rc = find(c, key, &at, &r);
		if (rc != 0 || (length == 0 && r.key == 0))
			return rc;
		rc = memfab_cas(c->q, c->e->memory, address(at), r.version, r.version + 1, &old);
		if (rc != 0)
			return rc;
		if (old == r.version)
			break;
		c->retries++; /* somebody was faster: with another key, perhaps */
	}
	r.key = key;
	r.length = length;
	memcpy(r.value, value, length);
	rc = memfab_write_ack(c->q, c->e->memory, address(at) + 8, &r.key, sizeof(r) - 8);
	r.version += 2;
	return rc == 0 ? memfab_write_ack(c->q, c->e->memory, address(at), &r.version, 8) : rc;
}

/* @return octets of the value; 0: there is none; or -errno */
static int get(struct client *c, uint64_t key, char value[VALUE + 1])
{
	struct record r;
	uint64_t at;
	int rc = find(c, key, &at, &r);

	if (rc != 0 || r.key != key)
		return rc;
	memcpy(value, r.value, r.length);
	value[r.length] = '\0';
	return (int)r.length;
}

/* One operation on a key of its own, which has to be as it left it. */
static void step(struct client *c, uint64_t *random)
{
	uint64_t k = example_random(random) % KEYS, what = example_random(random) % 10;
	char value[VALUE + 1] = "";
	int rc;

	if (what < 6) {
		c->gets++;
		rc = get(c, c->first + k, value);
		if (rc >= 0 && strcmp(value, c->model[k]) != 0)
			c->wrong = "a value is not what was put";
	} else if (what < 9) {
		c->puts++;
		snprintf(c->model[k], VALUE, "%" PRIu64 " is %" PRIx64, c->first + k, *random);
		rc = put(c, c->first + k, c->model[k], strlen(c->model[k]));
	} else {
		c->deletes++;
		c->model[k][0] = '\0';
		rc = put(c, c->first + k, "", 0);
	}
	if (rc < 0)
		c->error = rc;
}

static void *work(void *arg)
{
	struct client *c = arg;
	uint64_t random = c->first * 7919 + 1;

	c->q = example_queue(c->e, 1);
	for (unsigned long i = 0; i < c->e->number && c->error == 0 && c->wrong == NULL; i++)
		step(c, &random);
	memfab_queue_free(c->q);
	return NULL;
}

static int clear(struct example *e)
{
	struct memfab_queue *q = example_queue(e, 1);
	char *zero = calloc(RECORDS, sizeof(struct record));
	int rc =
		zero == NULL ? -12 : memfab_write_ack(q, e->memory, 0, zero, RECORDS * sizeof(struct record));

	free(zero);
	memfab_queue_free(q);
	return rc;
}

int main(int argc, char **argv)
{
	static struct client client[THREADS_MAX];
	struct example e = {
		.name = "kv",
		.what = "A key-value store in remote memory, checked against a model of each thread.",
		.unit = "operations of each thread",
		.number = 20000,
		.threads = 2};
	int rc = example_open(&e, argc, argv), bad = 0;
	uint64_t begin;

	if (rc != 0)
		return rc;
	if (e.threads > THREADS_MAX)
		return complain(&e, "--threads", "3 at most");
	rc = clear(&e);
	if (rc != 0)
		return complain_of(&e, "write", rc);
	begin = example_ns();
	for (unsigned long i = 0; i < e.threads; i++) {
		client[i].e = &e;
		client[i].first = 1 + i * KEYS;
		if (pthread_create(&client[i].thread, NULL, work, &client[i]) != 0)
			return complain(&e, "thread", "cannot be started");
	}
	for (unsigned long i = 0; i < e.threads; i++) {
		const struct client *c = &client[i];

		pthread_join(c->thread, NULL);
		printf("client %lu  get %lu  put %lu  delete %lu  retries %lu\n", i, c->gets, c->puts,
		       c->deletes, c->retries);
		bad |= c->error != 0      ? complain_of(&e, "operation", c->error)
		       : c->wrong != NULL ? complain(&e, "client", c->wrong)
					  : 0;
	}
	begin = example_ns() - begin;
	printf("%.0f ns an operation, all threads together\n",
	       (double)begin / (double)(e.threads * e.number));
	memfab_close(e.fabric);
	return bad;
}
