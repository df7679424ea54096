/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of roles that node.c and sw.c do not call directly. Each call goes to the function of the table, with
 * the arguments of the call. An entry that a table does not have means what mf_role.h says. The lists of
 * kinds of this program have toys after the hot kinds.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "systems/hosts.h"
#include "systems/kinds.h"
#include "systems/mf_node.h"
#include "systems/mf_sw.h"

/** Of the last call: its name, and its arguments as numbers. */
static struct {
	const char *name;
	const void *self;
	uint64_t arg[4];
	unsigned int calls;
} last;

static void called(const char *name, const void *self, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	last.name = name;
	last.self = self;
	last.arg[0] = a;
	last.arg[1] = b;
	last.arg[2] = c;
	last.arg[3] = d;
	last.calls++;
}

#define EXPECT(what, of, ...)                                                                          \
	do {                                                                                           \
		const uint64_t args[4] = {__VA_ARGS__};                                                \
                                                                                                       \
		cr_expect_str_eq(last.name, what);                                                     \
		cr_expect_eq(last.self, of, "%s", what);                                               \
		for (int k = 0; k < 4; k++)                                                            \
			cr_expect_eq(last.arg[k], args[k], "%s: argument %d is %lu, not %lu", what, k, \
				     last.arg[k], args[k]);                                            \
	} while (0)

#define WORD(p) ((uint64_t)(uintptr_t)(p))

/* ---- what a toy answers ---- */

static struct mf_span span, sent;
static struct mf_demux demux;

static void destroy(void *self)
{
	called("destroy", self, 0, 0, 0, 0);
}

static bool can_rx(const void *self)
{
	called("can_rx", self, 0, 0, 0, 0);
	return false;
}

static void rx(void *self, unsigned int end, mf_time now, const struct mf_span *s)
{
	called("rx", self, end, now, WORD(s), 0);
}

static unsigned int tx(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out)
{
	called("tx", self, end, now, max, WORD(out));
	return 7;
}

static struct mf_span *tx_in_place(void *self, unsigned int end, mf_time now, struct mf_span *room)
{
	called("tx_in_place", self, end, now, WORD(room), 0);
	return &sent;
}

static mf_time run(void *self, mf_time now)
{
	called("run", self, now, 0, 0, 0);
	return now + 1;
}

static mf_time next(const void *self)
{
	called("next", self, 0, 0, 0, 0);
	return 11;
}

static bool busy(const void *self)
{
	called("busy", self, 0, 0, 0, 0);
	return true;
}

static void link_down(void *self, unsigned int end, mf_time now)
{
	called("link_down", self, end, now, 0, 0);
}

static bool link_up(void *self, unsigned int end, mf_time now)
{
	called("link_up", self, end, now, 0, 0);
	return false;
}

static void bear(void *self, unsigned int end, mf_time by)
{
	called("bear", self, end, by, 0, 0);
}

static int crash(void *self, mf_time now, struct mf_memory *memory)
{
	called("crash", self, now, WORD(memory), 0, 0);
	return -ENOMEM;
}

static void exhaust(void *self, unsigned int pool, unsigned int end, bool on)
{
	called("exhaust", self, pool, end, on, 0);
}

static bool has_requests(const void *self, unsigned int end, unsigned int n)
{
	called("has_requests", self, end, n, 0, 0);
	return false;
}

static const struct mf_demux *demux_of(const void *self, unsigned int end)
{
	called("demux", self, end, 0, 0, 0);
	return &demux;
}

static const struct mf_demux *heard(const void *self)
{
	called("heard", self, 0, 0, 0, 0);
	return &demux;
}

static unsigned int policy(const void *self, struct mf_counter *out)
{
	called("policy", self, WORD(out), 0, 0, 0);
	return 3;
}

struct toy_stats {
	uint64_t buckets, spades;
};

static const struct mf_counter_desc toy_counters[] = {
	MF_COUNTER("toy", "spades", MF_SUM, struct toy_stats, spades), {0}};

static void stats_of(const void *self, struct mf_role_stats *out)
{
	const struct toy_stats s = {.spades = 42};

	called("stats", self, WORD(out), 0, 0, 0);
	mf_role_stats_set(out, s);
}

static int submit(void *self, mf_time now, const struct mf_op *op)
{
	called("submit", self, now, WORD(op), 0, 0);
	return -EAGAIN;
}

static unsigned int completions(void *self, mf_time now, struct mf_completion *out, unsigned int max)
{
	called("completions", self, now, WORD(out), max, 0);
	return 2;
}

static uint32_t outstanding(const void *self)
{
	called("outstanding", self, 0, 0, 0, 0);
	return 5;
}

static void on_frame(void *self, mf_node_frame_fn fn, void *ctx)
{
	called("on_frame", self, WORD(fn), WORD(ctx), 0, 0);
}

static void on_restart(void *self, mf_node_restart_fn fn, void *ctx)
{
	called("on_restart", self, WORD(fn), WORD(ctx), 0, 0);
}

static bool link_is_lost(const void *self)
{
	called("link_is_lost", self, 0, 0, 0, 0);
	return true;
}

static void under_way(const void *self, uint16_t node, void (*fn)(void *ctx, uint64_t user), void *ctx)
{
	called("under_way", self, node, WORD(fn), WORD(ctx), 0);
}

static bool active(const void *self)
{
	called("active", self, 0, 0, 0, 0);
	return false;
}

static uint16_t epoch(const void *self)
{
	called("epoch", self, 0, 0, 0, 0);
	return 9;
}

static bool tells(const void *self)
{
	called("tells", self, 0, 0, 0, 0);
	return true;
}

static bool demoted(const void *self)
{
	called("deposed", self, 0, 0, 0, 0);
	return true;
}

/* ---- kinds: one whose table has all, one that has what it must have ---- */

static const struct mf_requester_ops requester = {.submit = submit,
						  .completions = completions,
						  .outstanding = outstanding,
						  .on_frame = on_frame,
						  .on_restart = on_restart,
						  .link_is_lost = link_is_lost,
						  .under_way = under_way};
static const struct mf_requester_ops deaf = {
	.submit = submit, .completions = completions, .outstanding = outstanding, .on_frame = on_frame};
static const struct mf_redundancy_ops redundancy = {
	.active = active, .epoch = epoch, .tells = tells, .demoted = demoted};
static const struct mf_pool_desc pools[] = {{.key = "sand"}, {.key = "buckets", .by_end = true}, {0}};

#define MUST                                                                                          \
	.destroy = destroy, .rx = rx, .tx = tx, .tx_in_place = tx_in_place, .run = run, .next = next, \
	.link_down = link_down, .demux = demux_of, .heard = heard, .counters = toy_counters,          \
	.stats = stats_of

static const struct mf_role_ops whole = {.kind = "whole",
					 .pools = pools,
					 .can_rx = can_rx,
					 .tx_makes_room = true,
					 .busy = busy,
					 .link_up = link_up,
					 .bear = bear,
					 .crash = crash,
					 .exhaust = exhaust,
					 .has_requests = has_requests,
					 .policy = policy,
					 .requester = &requester,
					 .redundancy = &redundancy,
					 MUST};
static const struct mf_role_ops bare = {.kind = "bare", MUST};
static const struct mf_role_ops half = {.kind = "half", .requester = &deaf, MUST};

/* Their numbers, in either list. */
enum { WHOLE = NODE_OTHERS, BARE, HALF };

const struct mf_role_ops *const mf_node_kinds[] = {[NODE_EDM] = &mf_host_role,
						   [NODE_FRAMES] = &mf_frame_host_role,
						   [NODE_HOSTS] = &mf_hosts_role,
						   [WHOLE] = &whole,
						   [BARE] = &bare,
						   [HALF] = &half};
const struct mf_role_ops *const mf_switch_kinds[] = {[SWITCH_EDM] = &mf_switch_role,
						     [SWITCH_FRAMES] = &mf_frame_switch_role,
						     [WHOLE] = &whole,
						     [BARE] = &bare,
						     [HALF] = &half};

static struct mf_node *node_of(struct mf_node_shell *shell, uint8_t kind)
{
	*shell = (struct mf_node_shell){.kind = kind};
	return (struct mf_node *)shell;
}

static struct mf_sw *sw_of(struct mf_ports *ports, uint8_t kind)
{
	*ports = (struct mf_ports){.kind = kind, .next = 13};
	return (struct mf_sw *)ports;
}

Test(kinds, a_node_is_driven_by_its_table)
{
	struct mf_memory *memory = (struct mf_memory *)&demux;
	struct mf_node_shell shell;
	struct mf_node *n = node_of(&shell, WHOLE);

	cr_expect(!mf_node_can_rx(n));
	EXPECT("can_rx", n, 0);
	mf_node_rx(n, 5, &span);
	EXPECT("rx", n, 0, 5, WORD(&span));
	mf_node_rx_by(n, 1, 6, &span);
	EXPECT("rx", n, 1, 6, WORD(&span));
	cr_expect_eq(mf_node_tx(n, 7, 8, &span), 7);
	EXPECT("tx", n, 0, 7, 8, WORD(&span));
	cr_expect_eq(mf_node_tx_in_place(n, 9, &span), &sent);
	EXPECT("tx_in_place", n, 0, 9, WORD(&span));
	cr_expect_eq(mf_node_run(n, 20), 21);
	EXPECT("run", n, 20);
	cr_expect_eq(mf_node_next(n), 11);
	EXPECT("next", n, 0);
	mf_node_link_down(n, 1, 30);
	EXPECT("link_down", n, 1, 30);
	mf_node_link_up(n, 1, 31);
	EXPECT("link_up", n, 1, 31);
	cr_expect_eq(mf_node_restart(n, 40, memory), -ENOMEM);
	EXPECT("crash", n, 40, WORD(memory));
	cr_expect_eq(mf_node_role(n), &whole);
	mf_node_exhaust(n, 1, true);
	EXPECT("exhaust", n, 1, 0, 1);
	cr_expect_eq(mf_node_demux(n), &demux);
	EXPECT("heard", n, 0);
	cr_expect_eq(mf_node_demux_of(n, 1), &demux);
	EXPECT("demux", n, 1);
	mf_node_free(n);
	EXPECT("destroy", n, 0);
}

Test(kinds, clients_use_a_node_by_its_table)
{
	struct mf_counter counter[MF_COUNTERS_MAX];
	struct mf_completion done[4];
	struct mf_node_shell shell;
	struct mf_op op = {0};
	struct mf_node *n = node_of(&shell, WHOLE);
	struct mf_role_stats counts;
	struct mf_host_stats stats;

	cr_expect_eq(mf_node_submit(n, 1, &op), -EAGAIN);
	EXPECT("submit", n, 1, WORD(&op));
	cr_expect_eq(mf_node_completions(n, 2, done, 4), 2);
	EXPECT("completions", n, 2, WORD(done), 4);
	cr_expect_eq(mf_node_outstanding(n), 5);
	EXPECT("outstanding", n, 0);
	mf_node_on_frame(n, NULL, &op);
	EXPECT("on_frame", n, 0, WORD(&op));
	mf_node_on_restart(n, NULL, &op);
	EXPECT("on_restart", n, 0, WORD(&op));
	cr_expect(mf_node_link_is_lost(n));
	EXPECT("link_is_lost", n, 0);
	mf_node_under_way(n, 3, NULL, &op);
	EXPECT("under_way", n, 3, 0, WORD(&op));
	cr_expect(!mf_node_has_primary(n));
	EXPECT("active", n, 0);
	cr_expect_eq(mf_node_epoch(n), 9);
	EXPECT("epoch", n, 0);
	cr_expect(mf_node_tells(n));
	EXPECT("tells", n, 0);
	cr_expect_eq(mf_node_stack_counters(n, counter), 3);
	EXPECT("policy", n, WORD(counter));
	mf_node_counts(n, &counts);
	EXPECT("stats", n, WORD(&counts));
	cr_expect_eq(mf_counter_at(&counts, mf_node_role(n)->counters[0].offset), 42);
	mf_node_stats(n, &stats);
	cr_expect_eq(stats.drop_proto + stats.submitted[0], 0, "it counts nothing that EDM's host counts");
	cr_expect(!mf_node_foresees(n));
}

Test(kinds, what_a_node_s_table_has_not)
{
	struct mf_counter counter[MF_COUNTERS_MAX];
	struct mf_completion done[4];
	struct mf_node_shell shell;
	struct mf_op op = {0};
	struct mf_node *n = node_of(&shell, BARE);

	last.calls = 0;
	cr_expect(mf_node_can_rx(n), "it has room for all");
	cr_expect_eq(mf_node_submit(n, 1, &op), -EPERM);
	cr_expect_eq(mf_node_completions(n, 1, done, 4), 0);
	cr_expect_eq(mf_node_outstanding(n), 0);
	mf_node_on_frame(n, NULL, NULL);
	mf_node_on_restart(n, NULL, NULL);
	cr_expect(mf_node_has_primary(n), "it has one switch");
	cr_expect_eq(mf_node_epoch(n), 0);
	cr_expect(!mf_node_tells(n));
	mf_node_link_up(n, 0, 1);
	cr_expect_eq(mf_node_stack_counters(n, counter), 0);
	cr_expect_eq(mf_pool_find(mf_node_role(n)->pools, "sand"), -1);
	cr_expect_eq(last.calls, 0);
	n = node_of(&shell, HALF);
	mf_node_on_restart(n, NULL, NULL);
	cr_expect_eq(last.calls, 0, "it hears of none");
}

Test(kinds, a_switch_is_driven_by_its_table)
{
	struct mf_counter counter[MF_COUNTERS_MAX];
	struct mf_role_stats counts;
	static struct mf_ports ports;
	struct mf_sw *sw = sw_of(&ports, WHOLE);

	cr_expect(!mf_sw_can_rx(sw));
	EXPECT("can_rx", sw, 0);
	mf_sw_rx(sw, 3, 5, &span);
	EXPECT("rx", sw, 3, 5, WORD(&span));
	cr_expect_eq(mf_sw_tx(sw, 4, 7, 8, &span), 7);
	EXPECT("tx", sw, 4, 7, 8, WORD(&span));
	cr_expect_eq(mf_sw_tx_in_place(sw, 5, 9, &span), &sent);
	EXPECT("tx_in_place", sw, 5, 9, WORD(&span));
	cr_expect_eq(mf_sw_run(sw, 20), 21);
	EXPECT("run", sw, 20);
	cr_expect_eq(mf_sw_next(sw), 13, "the shell knows");
	cr_expect(mf_sw_has_frames(sw));
	EXPECT("busy", sw, 0);
	mf_sw_link_down(sw, 6, 30);
	EXPECT("link_down", sw, 6, 30);
	cr_expect(!mf_sw_link_up(sw, 6, 31));
	EXPECT("link_up", sw, 6, 31);
	mf_sw_bear(sw, 6, 32);
	EXPECT("bear", sw, 6, 32);
	cr_expect(!mf_sw_has_requests(sw, 6, 2));
	EXPECT("has_requests", sw, 6, 2);
	cr_expect(!mf_sw_active(sw));
	EXPECT("active", sw, 0);
	cr_expect(mf_sw_demoted(sw));
	EXPECT("deposed", sw, 0);
	mf_sw_crash(sw, 40);
	EXPECT("crash", sw, 40, 0);
	mf_sw_exhaust(sw, 1, 6, false);
	EXPECT("exhaust", sw, 1, 6, 0);
	cr_expect_eq(mf_sw_role(sw), &whole);
	cr_expect_eq(mf_sw_bridge_counters(sw, counter), 3);
	EXPECT("policy", sw, WORD(counter));
	mf_sw_counts(sw, &counts);
	EXPECT("stats", sw, WORD(&counts));
	cr_expect_eq(mf_counter_at(&counts, mf_sw_role(sw)->counters[0].offset), 42);
	mf_sw_free(sw);
	EXPECT("destroy", sw, 0);
}

Test(kinds, what_a_switch_s_table_has_not)
{
	struct mf_counter counter[MF_COUNTERS_MAX];
	static struct mf_ports ports;
	struct mf_sw *sw = sw_of(&ports, BARE);
	struct mf_switch_stats stats;
	unsigned int n = 1;

	last.calls = 0;
	cr_expect(mf_sw_can_rx(sw), "it has room for all");
	cr_expect(!mf_sw_has_frames(sw));
	cr_expect(mf_sw_link_up(sw, 0, 1), "nothing is to be done");
	mf_sw_bear(sw, 0, 1);
	cr_expect(mf_sw_has_requests(sw, 0, 1));
	cr_expect(mf_sw_active(sw), "it is the only one");
	cr_expect(!mf_sw_demoted(sw));
	cr_expect_null(mf_sw_peek(sw, &n), "it has no scheduler");
	cr_expect_eq(n, 0);
	cr_expect_eq(mf_sw_take(sw, counter, 1), 0);
	cr_expect_eq(mf_sw_bridge_counters(sw, counter), 0);
	mf_sw_stats(sw, &stats);
	cr_expect_eq(stats.frames + stats.grants, 0);
	cr_expect(!mf_sw_foresees(sw));
	cr_expect_eq(last.calls, 0);
}

Test(kinds, pools_are_found_by_their_keys)
{
	cr_expect_eq(mf_pool_find(whole.pools, "sand"), 0);
	cr_expect_eq(mf_pool_find(whole.pools, "buckets"), 1);
	cr_expect_eq(mf_pool_find(whole.pools, "bucket"), -1);
	cr_expect_eq(mf_pool_find(mf_host_role.pools, "queue"), MF_HOST_QUEUE);
	cr_expect_eq(mf_pool_find(mf_host_role.pools, "grants"), MF_HOST_GRANTS);
	cr_expect_eq(mf_pool_find(mf_host_role.pools, "buffers"), MF_HOST_BUFFERS);
	cr_expect_eq(mf_pool_find(mf_host_role.pools, "room"), MF_HOST_MUX);
	cr_expect(mf_switch_role.pools[mf_pool_find(mf_switch_role.pools, "egress")].by_end);
	cr_expect(!mf_switch_role.pools[mf_pool_find(mf_switch_role.pools, "requests")].by_end);
}
