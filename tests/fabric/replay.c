/* SPDX-License-Identifier: BSD-3-Clause */
/* Record and replay (D19) without EAL: roles that call each other directly stand for the wall clock. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "pcs/mf_pcs.h"
#include "run/mf_fabric.h"

#include "record/mf_record.h"
#include "systems/edm/sched/mf_sched.h"
#include "wall/mf_wall_role.h"

#define STEPS 400 /* of a microsecond */
#define PATH_LEN 256
#define TEXT_LEN 8192

static const char fabric[] =
	"{\"seed\": %u, \"clock\": {\"wall\": {\"warmup\": \"0\", \"duration\": \"200us\"}},"
	" \"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 2},"
	"             {\"name\": \"mn\", \"role\": \"memory\"}],"
	" \"memory\": {\"size\": \"2MiB\"}, \"link\": {\"policy\": \"fair\"},"
	" \"workload\": [{\"mix\": {\"read\": 4, \"write\": 4, \"write_ack\": 2, \"cas\": 1},"
	"               \"span\": \"64KiB\", \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 3000},"
	"               \"depth\": 4}],"
	" \"ethernet\": [{\"load\": 0.2, \"size\": 400}]}";

static const char of_frames[] =
	"{\"clock\": {\"wall\": {\"warmup\": \"0\", \"duration\": \"200us\"}}, \"stack\": \"rocev2\","
	" \"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 2},"
	"             {\"name\": \"mn\", \"role\": \"memory\"}],"
	" \"workload\": [{\"mix\": {\"read\": 1, \"write\": 1}, \"size\": 256, \"depth\": 2}]}";

struct bench {
	struct mf_config config;
	char dir[PATH_LEN];
	char text[TEXT_LEN]; /* of the last replay */
};

static void parse(struct mf_config *config, const char *text)
{
	char err[256] = "";

	cr_assert_eq(mf_config_parse(text, strlen(text), "x", config, err, sizeof(err)), 0, "%s", err);
}

static void configure(struct mf_config *config, unsigned int seed)
{
	char text[sizeof(fabric) + 16];

	snprintf(text, sizeof(text), fabric, seed);
	parse(config, text);
}

/* Switch and scheduler exchange what they have, as on one lcore. */
static void exchange(struct role *sw, struct role *sched, mf_time now)
{
	uint64_t answer[MF_ITEM_WORDS];
	unsigned int told, given, n;
	void *items;

	while ((items = role_peek(sw, now, &told)) != NULL) {
		cr_assert_eq(told, 1, "each is recorded by itself");
		n = role_exchange(sched, now + 1, items, told, &given, answer, 1);
		cr_assert_eq(given, 1);
		role_advance(sw, given);
		for (; n == 1; n = role_take(sched, now + 1, answer, 1))
			role_give(sw, now + 1, answer, n);
	}
}

/* A turn of every role at time now. */
static void turn(struct role *role, unsigned int roles, mf_time now)
{
	struct role *sched = &role[0], *sw = &role[1];
	uint64_t items[RECORD_ITEMS_MAX * MF_ITEM_WORDS];
	struct mf_span span;
	unsigned int n;

	for (unsigned int i = 2; i < roles; i++) {
		role_run(&role[i], now);
		while (role_tx(&role[i], role[i].index, now, MF_SPAN_MAX, &span) > 0)
			role_rx(sw, role[i].index, now, &span);
	}
	role_run(sw, now);
	if (now / MF_US(1) % 2 == 0) /* the scheduler's clock is ahead: it dates anew what it is given */
		exchange(sw, sched, now);
	while ((n = role_take(sw, now, items, RECORD_ITEMS_MAX)) > 0)
		role_give(sched, now, items, n);
	do {
		n = role_take(sched, now, items, 2);
		role_give(sw, now, items, n);
	} while (n == 2);
	for (unsigned int i = 2; i < roles; i++)
		while (role_tx(sw, role[i].index, now, MF_SPAN_MAX, &span) > 0)
			role_rx(&role[i], role[i].index, now, &span);
}

static void make_record(struct bench *b)
{
	struct role role[MF_PORTS_MAX + 2];
	char err[256] = "";
	struct mf_fabric *f = mf_fabric_new(&b->config, MF_CLOCK_WALL, err, sizeof(err));
	unsigned int roles;
	uint32_t config;

	cr_assert_not_null(f, "%s", err);
	roles = role_all(f, role);
	cr_assert_eq(roles, 5);
	cr_assert_eq(mf_config_hash(&b->config, &config), 0);
	for (unsigned int i = 0; i < roles; i++) {
		role[i].record = record_open(b->dir, role_name(&role[i]), config);
		cr_assert_not_null(role[i].record);
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		turn(role, roles, MF_US(i));
		if (i == STEPS / 3)
			role_bear(&role[1], role[2].index, MF_US(7), MF_US(i));
	}
	for (unsigned int i = 0; i < roles; i++)
		cr_assert_eq(record_close(role[i].record, record_end(role[i].record)), 0);
	cr_assert(fabric_quiet(f, MF_US(STEPS)), "all that began has ended");
	mf_fabric_free(f);
}

static void start_folder(struct bench *b)
{
	mf_pcs_select(0);
	snprintf(b->dir, sizeof(b->dir), "/tmp/memfab-replay-XXXXXX");
	cr_assert_not_null(mkdtemp(b->dir));
}

static void start(struct bench *b)
{
	start_folder(b);
	configure(&b->config, 1);
	make_record(b);
}

/* A fabric whose switch has no channel, and whose scheduler is given nothing. */
static void start_frames(struct bench *b)
{
	start_folder(b);
	parse(&b->config, of_frames);
	make_record(b);
}

static void finish(struct bench *b)
{
	DIR *d = opendir(b->dir);

	for (struct dirent *e; (e = readdir(d)) != NULL;)
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	cr_assert_eq(rmdir(b->dir), 0);
	mf_config_free(&b->config);
}

static int replay(struct bench *b)
{
	FILE *out = fmemopen(b->text, sizeof(b->text), "w");
	int rc;

	cr_assert_not_null(out);
	rc = mf_fabric_replay(&b->config, b->dir, out);
	fclose(out);
	return rc;
}

/* Files */

struct content {
	uint8_t *data;
	size_t size;
};

static struct content load(const struct bench *b, const char *role)
{
	char path[PATH_LEN + 64];
	struct content c;
	FILE *file;

	record_path(path, sizeof(path), b->dir, role);
	file = fopen(path, "rb");
	cr_assert_not_null(file);
	fseek(file, 0, SEEK_END);
	c.size = (size_t)ftell(file);
	rewind(file);
	c.data = malloc(c.size);
	cr_assert_not_null(c.data);
	cr_assert_eq(fread(c.data, 1, c.size, file), c.size);
	fclose(file);
	return c;
}

static void store(const struct bench *b, const char *role, const void *data, size_t size)
{
	char path[PATH_LEN + 64];
	FILE *file;

	record_path(path, sizeof(path), b->dir, role);
	file = fopen(path, "wb");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(data, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
}

static struct record_entry entry_at(const struct content *c, size_t at)
{
	struct record_entry e;

	cr_assert_leq(at + sizeof(e), c->size);
	memcpy(&e, c->data + at, sizeof(e));
	return e;
}

/* The last entry of a kind that has data. */
static size_t find(const struct content *c, enum record_call call)
{
	size_t at = sizeof(struct record_header), found = 0;

	for (struct record_entry e = {0}; e.call != RECORD_END; at += sizeof(e) + e.size) {
		e = entry_at(c, at);
		if (e.call == call && e.size > 0)
			found = at;
	}
	cr_assert_gt(found, 0, "call %d was recorded", call);
	return found;
}

static void assert_refused(struct bench *b, const char *because)
{
	int rc = replay(b);

	cr_assert_eq(rc, -EINVAL, "%d: %s", rc, b->text);
	cr_assert_not_null(strstr(b->text, because), "'%s' in: %s", because, b->text);
}

Test(replay, identical)
{
	struct bench b;
	unsigned int lines = 0;

	start(&b);
	cr_assert_eq(replay(&b), 0, "%s", b.text);
	for (const char *p = b.text; (p = strstr(p, " identical\n")) != NULL; p++)
		lines++;
	cr_assert_eq(lines, 5, "%s", b.text);
	finish(&b);
}

/* The same run recorded twice gives the same octets: no padding, no chance. */
Test(replay, record_is_deterministic)
{
	static const char *const roles[] = {"scheduler", "sw0", "cn0", "cn1", "mn"};
	struct content first[5];
	struct bench b;

	start(&b);
	for (unsigned int i = 0; i < 5; i++)
		first[i] = load(&b, roles[i]);
	make_record(&b);
	for (unsigned int i = 0; i < 5; i++) {
		struct content c = load(&b, roles[i]);

		cr_assert_eq(c.size, first[i].size);
		cr_assert_eq(memcmp(c.data, first[i].data, c.size), 0, "%s", roles[i]);
		free(c.data);
		free(first[i].data);
	}
	finish(&b);
}

/* Every octet of an output counts, of all three kinds of role. */
Test(replay, output_differs)
{
	static const struct {
		const char *role, *says;
		enum record_call call;
	} outputs[] = {
		{"cn0", "blocks sent", RECORD_TX},       {"mn", "blocks sent", RECORD_TX},
		{"sw0", "blocks sent", RECORD_TX},       {"sw0", "descriptors at", RECORD_TAKE},
		{"scheduler", "grants at", RECORD_TAKE},
	};
	struct bench b;

	start(&b);
	for (unsigned int i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		struct content c = load(&b, outputs[i].role);
		size_t at = find(&c, outputs[i].call), size = entry_at(&c, at).size;

		for (size_t k = 0; k < size; k += 13) {
			uint8_t *octet = c.data + at + sizeof(struct record_entry) + k;

			*octet ^= 0x10;
			store(&b, outputs[i].role, c.data, c.size);
			cr_assert_eq(replay(&b), 1, "%s octet %zu: %s", outputs[i].role, k, b.text);
			cr_assert_not_null(strstr(b.text, "1 outputs differ"));
			cr_assert_not_null(strstr(b.text, outputs[i].says), "%s", b.text);
			*octet ^= 0x10;
		}
		store(&b, outputs[i].role, c.data, c.size);
		free(c.data);
	}
	cr_assert_eq(replay(&b), 0);
	finish(&b);
}

/* A flipped bit anywhere is a difference or refused, and never overlooked. */
Test(replay, any_bit)
{
	static const char *const roles[] = {"scheduler", "sw0", "cn0", "cn1", "mn"};
	unsigned int differ = 0, refused = 0;
	struct mf_rng rng;
	struct bench b;

	start(&b);
	mf_rng_init(&rng, 11, "replay", 0);
	for (unsigned int i = 0; i < 150; i++) {
		const char *role = roles[i % 5];
		struct content c = load(&b, role);
		uint64_t bit = mf_rng_below(&rng, 8 * (i % 3 == 0 && c.size > 400 ? 400 : c.size));
		int rc;

		c.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		store(&b, role, c.data, c.size);
		rc = replay(&b);
		cr_assert(rc == 1 || rc == -EINVAL, "%s bit %llu: %d %s", role, (unsigned long long)bit, rc,
			  b.text);
		differ += rc == 1;
		refused += rc < 0;
		c.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		store(&b, role, c.data, c.size);
		free(c.data);
	}
	cr_assert(differ > 10 && refused > 10, "%u differ, %u refused", differ, refused);
	finish(&b);
}

Test(replay, truncated)
{
	struct mf_rng rng;
	struct content c;
	struct bench b;
	size_t size;

	start(&b);
	c = load(&b, "sw0");
	mf_rng_init(&rng, 12, "replay", 0);
	for (unsigned int i = 0; i < 100; i++) {
		size = i < sizeof(struct record_header) ? i : mf_rng_below(&rng, c.size);
		store(&b, "sw0", c.data, size);
		assert_refused(&b, size < sizeof(struct record_header) ? "is no record" : "is cut off");
	}
	/* All entries, but not the last one, which says that they are all. */
	store(&b, "sw0", c.data, c.size - sizeof(struct record_entry));
	assert_refused(&b, "is cut off");
	free(c.data);
	finish(&b);
}

Test(replay, not_as_it_was)
{
	static const uint32_t absurd = UINT32_MAX;
	struct content c, other;
	struct bench b;
	uint8_t *more;
	size_t first = sizeof(struct record_header), size;

	start(&b);
	c = load(&b, "cn0");
	other = load(&b, "cn1");
	more = malloc(c.size + 4096);
	cr_assert_not_null(more);

	store(&b, "cn0", other.data, other.size);
	assert_refused(&b, "is the record of cn1");
	memcpy(more, c.data, c.size);
	more[0] = 'M';
	store(&b, "cn0", more, c.size);
	assert_refused(&b, "is no record");
	more[0] = c.data[0];
	more[c.size] = 0;
	store(&b, "cn0", more, c.size + 1);
	assert_refused(&b, "goes on behind its end");
	memcpy(more + first + offsetof(struct record_entry, size), &absurd, sizeof(absurd));
	store(&b, "cn0", more, c.size);
	assert_refused(&b, "4294967295 octets");
	/* An entry left out, and one twice: each is whole. */
	size = sizeof(struct record_entry) + entry_at(&c, first).size;
	memcpy(more + first, c.data + first + size, c.size - first - size);
	store(&b, "cn0", more, c.size - size);
	assert_refused(&b, "entry 0 is damaged");
	memcpy(more, c.data, first + size);
	memcpy(more + first + size, c.data + first, c.size - first);
	store(&b, "cn0", more, c.size + size);
	assert_refused(&b, "entry 1 is damaged");
	free(more);
	free(other.data);
	free(c.data);
	finish(&b);
}

Test(replay, missing)
{
	char path[PATH_LEN + 64];
	struct bench b;

	start(&b);
	record_path(path, sizeof(path), b.dir, "mn");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(replay(&b), -ENOENT, "%s", b.text);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_assert_lt(replay(&b), 0, "%s", b.text);
	cr_assert_eq(rmdir(path), 0);
	finish(&b);
}

Test(replay, other_configuration)
{
	struct bench b;

	start(&b);
	mf_config_free(&b.config);
	configure(&b.config, 2);
	assert_refused(&b, "another fabric file");
	finish(&b);
}

/* The first 14 bytes say that it is a record at all, the next one in which format. */
Test(replay, other_formats)
{
	struct content c;
	struct bench b;

	start(&b);
	c = load(&b, "mn");
	memcpy(c.data, "memfab record 9\n", 16);
	store(&b, "mn", c.data, c.size);
	assert_refused(&b, "mn.rec is a record in format 9, of another version of memfab: this one has 10\n");
	memcpy(c.data, "memfab record 11", 16);
	store(&b, "mn", c.data, c.size);
	assert_refused(&b,
		       "mn.rec is a record in format 11, of another version of memfab: this one has 10\n");
	memcpy(c.data, "memfab record \n", 15);
	store(&b, "mn", c.data, c.size);
	assert_refused(&b, "mn.rec is no record\n");
	memcpy(c.data, "memfab record 9!", 16);
	store(&b, "mn", c.data, c.size);
	assert_refused(&b, "mn.rec is no record\n");
	memcpy(c.data, "memfab recall 9", 15);
	store(&b, "mn", c.data, c.size);
	assert_refused(&b, "mn.rec is no record\n");
	free(c.data);
	finish(&b);
}

#define LARGE 64
static_assert(LARGE >= MF_ITEM_MAX, "room for any item");

struct bad_entry {
	const char *role;
	unsigned int call, count;
	const void *data;
	size_t size;
};

/* A record of one entry, which is whole, and with which the role can be called, or not. */
static void assert_sense(struct bench *b, const struct bad_entry *bad, bool sense)
{
	struct content c = load(b, bad->role);
	struct record *r;
	uint32_t config;

	cr_assert_eq(mf_config_hash(&b->config, &config), 0);
	r = record_open(b->dir, bad->role, config);
	cr_assert_not_null(r);
	record_call(r, (enum record_call)bad->call, bad->count, 0, bad->data, bad->size);
	cr_assert_eq(record_close(r, record_end(r)), 0);
	if (sense)
		cr_assert_geq(replay(b), 0, "%s", b->text);
	else
		assert_refused(b, "entry 0 makes no sense");
	store(b, bad->role, c.data, c.size);
	free(c.data);
}

static void assert_senseless(struct bench *b, const struct bad_entry *bad)
{
	assert_sense(b, bad, false);
}

Test(replay, senseless)
{
	struct mf_span span = {.count = 1, .word = {MF_IDLE_WORD}, .sync = {MF_SYNC_CTRL}};
	static uint8_t packed_span[RECORD_SPAN_MAX], zeros[RECORD_DATA_MAX];
	size_t span_size = record_pack_span(&span, packed_span);
	const size_t grant = mf_sched_grant_item.packed, descriptor = mf_sched_msg_item.packed;
	const struct bad_entry bad[] = {
		{"cn0", RECORD_RX, 1, packed_span, span_size}, /* not its port */
		{"cn0", RECORD_RX, 0, packed_span, span_size - 1},
		{"cn0", RECORD_RX, 0, packed_span, 0},
		{"cn0", RECORD_GIVE, 0, zeros, grant}, /* it has no channel */
		{"cn0", RECORD_TAKE, 1, NULL, 0},
		{"cn0", 0, 0, NULL, 0},
		{"cn0", RECORD_CALLS, 0, NULL, 0},
		{"cn0", 255, 0, NULL, 0},
		{"sw0", RECORD_RX, 3, packed_span, span_size}, /* there is no port 3 */
		{"sw0", RECORD_TX, 65535, NULL, 0},
		{"sw0", RECORD_GIVE, 0, NULL, 0},
		{"sw0", RECORD_GIVE, 0, zeros, grant - 1},
		{"sw0", RECORD_GIVE, 0, zeros, 2 * grant},
		{"sw0", RECORD_GIVE, 0, zeros, descriptor}, /* the other way */
		{"sw0", RECORD_TAKE, 0, NULL, 0},
		{"sw0", RECORD_TAKE, RECORD_ITEMS_MAX + 1, NULL, 0},
		{"scheduler", RECORD_GIVE, 0, zeros, descriptor + 1},
		{"scheduler", RECORD_GIVE, 0, zeros, grant},
		{"scheduler", RECORD_TAKE, 65535, NULL, 0},
		{"scheduler", RECORD_RUN, 0, NULL, 0},
		{"cn0", RECORD_RUN, 0, zeros, 1}, /* it has no data */
		{"cn0", RECORD_RUN, 1, NULL, 0},
		{"cn0", RECORD_SHORT_SPANS, 0, zeros, 8},
		{"sw0", RECORD_LINK_LOST, 0, zeros, 1},
		{"sw0", RECORD_GIVE, 1, zeros, grant},
	};
	struct bench b;

	start(&b);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_senseless(&b, &bad[i]);
	/* A span that claims more blocks than there can be. */
	span.count = UINT16_MAX;
	memcpy(zeros, &span, 16);
	assert_senseless(&b, &(struct bad_entry){"cn0", RECORD_RX, 0, zeros, sizeof(zeros)});
	finish(&b);
}

/* Each value that the table of an item forbids, where a role is given one. */
static void assert_values(struct bench *b, const char *role, const struct mf_item *item,
			  unsigned int expected)
{
	unsigned int forbidden = 0;
	uint8_t packed[LARGE] = {0}, *at = packed;

	assert_sense(b, &(struct bad_entry){role, RECORD_GIVE, 0, packed, item->packed}, true);
	for (const struct mf_item_field *f = item->field; f->name != NULL; at += f->size, f++) {
		if (f->check == MF_ITEM_ANY || f->check == MF_ITEM_TIME)
			continue;
		forbidden++;
		*at = f->check == MF_ITEM_BOOL ? 2 : 3; /* there are nodes 0 to 2 */
		assert_senseless(b, &(struct bad_entry){role, RECORD_GIVE, 0, packed, item->packed});
		*at = 0;
		if (f->size > 1) {
			at[1] = 1;
			assert_senseless(b, &(struct bad_entry){role, RECORD_GIVE, 0, packed, item->packed});
			at[1] = 0;
		}
	}
	cr_assert_eq(forbidden, expected, "of %s", item->name);
}

Test(replay, values_that_an_item_cannot_have)
{
	struct bench b;

	start(&b);
	assert_values(&b, "sw0", &mf_sched_grant_item, 7);
	assert_values(&b, "scheduler", &mf_sched_msg_item, 5);
	finish(&b);
}

/* Grants that no scheduler gives: of a request that the switch has not, or has not asked for. */
Test(replay, grants_that_cannot_come)
{
	static const struct {
		struct mf_sched_grant grant;
		bool sense;
	} of[] = {
		{{.src = 0, .dst = 2, .size = 64, .cookie = MF_SCHED_NO_COOKIE, .first = true}, true},
		{{.src = 2, .dst = 0, .resp = true, .size = 64, .cookie = MF_SCHED_NO_COOKIE}, true},
		{{.src = 1, .dst = 1, .cookie = MF_SCHED_NO_COOKIE}, true}, /* the answer to a flush */
		{{.src = 1, .dst = 1, .size = 1, .cookie = MF_SCHED_NO_COOKIE}, false},
		{{.src = 2, .dst = 0, .resp = true, .first = true, .size = 64, .cookie = 0x7fffffff}, false},
		{{.src = 2, .dst = 0, .resp = true, .first = true, .size = 64, .cookie = 0}, false},
		{{.src = 2, .dst = 0, .resp = true, .first = true, .cookie = MF_SCHED_NO_COOKIE - 1}, false},
		{{.src = 2, .dst = 0, .resp = true, .cookie = 1000000}, false},
		{{.src = 2, .dst = 0, .resp = true, .refused = true, .cookie = 1}, false},
	};
	uint8_t packed[LARGE];
	struct bench b;
	size_t size;

	start(&b);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		size = mf_item_pack(&mf_sched_grant_item, &of[i].grant, 1, packed);
		assert_sense(&b, &(struct bad_entry){"sw0", RECORD_GIVE, 0, packed, size}, of[i].sense);
	}
	finish(&b);
}

/* The same grant once more: its request has left. */
Test(replay, a_grant_that_comes_twice)
{
	struct record_reader in;
	struct content c;
	struct record *r;
	struct bench b;
	bool twice = false;
	uint32_t config;

	start(&b);
	c = load(&b, "sw0");
	cr_assert_eq(mf_config_hash(&b.config, &config), 0);
	cr_assert_eq(record_reader_open(&in, b.dir, "sw0", config), 0);
	r = record_open(b.dir, "sw0", config);
	cr_assert_not_null(r);
	while (!twice && record_next(&in) > 0) {
		const struct record_entry *e = &in.now.entry;
		struct mf_sched_grant g;

		if (e->call == RECORD_GIVE) {
			cr_assert_eq(mf_item_unpack(&mf_sched_grant_item, in.now.data, e->size, 3, &g), 0);
			record_items(r, RECORD_GIVE, 0, 0, e->now, &mf_sched_grant_item, &g, 1);
			twice = g.resp && g.first && g.size > 0 && g.cookie != MF_SCHED_NO_COOKIE;
			if (twice)
				record_items(r, RECORD_GIVE, 0, 0, e->now, &mf_sched_grant_item, &g, 1);
		} else {
			record_call(r, (enum record_call)e->call, e->count, e->now, in.now.data, e->size);
		}
	}
	record_reader_close(&in);
	cr_assert(twice, "a read was granted");
	cr_assert_eq(record_close(r, record_end(r)), 0);
	assert_refused(&b, "makes no sense");
	free(c.data);
	finish(&b);
}

/* A record of one entry, of a pool that the role has not, or not at that port. */
static void assert_no_pool(struct bench *b, const char *role, unsigned int pool, unsigned int port)
{
	struct content c = load(b, role);
	struct record *r;
	uint32_t config;

	cr_assert_eq(mf_config_hash(&b->config, &config), 0);
	for (unsigned int k = 0; k < 2; k++) {
		r = record_open(b->dir, role, config);
		cr_assert_not_null(r);
		record_pool(r, k == 0 ? RECORD_TAKE_AWAY : RECORD_GIVE_BACK, pool, port, 0);
		cr_assert_eq(record_close(r, record_end(r)), 0);
		assert_refused(b, "entry 0 makes no sense");
	}
	store(b, role, c.data, c.size);
	free(c.data);
}

Test(replay, a_pool_that_the_role_has_not)
{
	struct bench b;

	start(&b);
	assert_no_pool(&b, "cn0", MF_HOST_MUX + 1, 0);
	assert_no_pool(&b, "cn0", 255, 0);
	assert_no_pool(&b, "mn", MF_HOST_QUEUE, 1); /* it has one for all its links */
	assert_no_pool(&b, "sw0", 0, 3); /* there is no port 3 */
	assert_no_pool(&b, "sw0", 1, 1); /* requests of all ports are in one */
	assert_no_pool(&b, "sw0", 2, 0);
	assert_no_pool(&b, "scheduler", 0, 0);
	finish(&b);
}

/* An entry that is as it was recorded, but for its channel. */
static void assert_no_channel(struct bench *b, const char *role, enum record_call call, uint8_t channel)
{
	struct content c = load(b, role);
	static struct record_buffer entry;
	size_t at = find(&c, call), size = sizeof(entry.entry) + entry_at(&c, at).size;

	memcpy(&entry, c.data + at, size);
	entry.entry.channel = channel;
	entry.entry.check = record_check(&entry);
	memcpy(c.data + at, &entry, size);
	store(b, role, c.data, c.size);
	assert_refused(b, " makes no sense");
	entry.entry.channel = 0;
	entry.entry.check = record_check(&entry);
	memcpy(c.data + at, &entry, size);
	store(b, role, c.data, c.size);
	free(c.data);
}

Test(replay, a_channel_that_the_role_has_not)
{
	struct bench b;

	start(&b);
	assert_no_channel(&b, "sw0", RECORD_GIVE, 1);
	assert_no_channel(&b, "sw0", RECORD_TAKE, 1);
	assert_no_channel(&b, "scheduler", RECORD_GIVE, 255);
	assert_no_channel(&b, "scheduler", RECORD_TAKE, 2);
	assert_no_channel(&b, "sw0", RECORD_RX, 1); /* which is of no channel */
	assert_no_channel(&b, "mn", RECORD_TX, 1);
	cr_assert_eq(replay(&b), 0, "%s", b.text);
	finish(&b);
}

Test(replay, frames)
{
	const struct bad_entry bad[] = {
		{"sw0", RECORD_GIVE, 0, (const uint8_t[LARGE]){0}, mf_sched_grant_item.packed},
		{"sw0", RECORD_TAKE, 1, NULL, 0},
		{"scheduler", RECORD_GIVE, 0, (const uint8_t[LARGE]){0}, mf_sched_msg_item.packed},
		{"sw0", RECORD_CRASH, 0, NULL, 0},
	};
	struct bench b;

	start_frames(&b);
	cr_assert_eq(replay(&b), 0, "%s", b.text);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_senseless(&b, &bad[i]);
	cr_assert_eq(replay(&b), 0, "%s", b.text);
	finish(&b);
}

/* What an item differs in is said by its table. */
Test(replay, says_what_differs)
{
	struct content c;
	struct bench b;
	size_t at;
	uint8_t *grant;
	char text[64];

	start(&b);
	c = load(&b, "scheduler");
	at = find(&c, RECORD_TAKE);
	grant = c.data + at + sizeof(struct record_entry);
	snprintf(text, sizeof(text), "grant 0: dst is %u, was %u\n", grant[2], grant[2] ^ 1u);
	grant[2] ^= 1; /* behind 2 bytes of src */
	store(&b, "scheduler", c.data, c.size);
	cr_assert_eq(replay(&b), 1, "%s", b.text);
	cr_assert_not_null(strstr(b.text, text), "'%s' in: %s", text, b.text);
	free(c.data);
	finish(&b);
}
