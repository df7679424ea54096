/* SPDX-License-Identifier: BSD-3-Clause */
/* A workload with the key "ycsb": queries to a store of records that all of its clients share. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config/cfg_write.h"
#include "workload/mf_workload.h"

#define DEPTH_OPEN 1024
#define INSERTS 1024

static const char *const names[] = {"A", "B", "C", "D", "E", "F", "trace", NULL};
enum { NAME_D = 3, NAME_TRACE = 6 };

const char *const cfg_query_names[] = {
	[MF_QUERY_READ] = "read", [MF_QUERY_UPDATE] = "update",         [MF_QUERY_INSERT] = "insert",
	[MF_QUERY_SCAN] = "scan", [MF_QUERY_RMW] = "read_modify_write", [MF_QUERY_KINDS] = NULL};
static_assert(MF_CONFIG_QUERIES == (int)MF_QUERY_KINDS, "the same kinds");

/* YCSB's core workloads. */
static const double mixes[][MF_QUERY_KINDS] = {
	{[MF_QUERY_READ] = 0.5, [MF_QUERY_UPDATE] = 0.5},
	{[MF_QUERY_READ] = 0.95, [MF_QUERY_UPDATE] = 0.05},
	{[MF_QUERY_READ] = 1},
	{[MF_QUERY_READ] = 0.95, [MF_QUERY_INSERT] = 0.05},
	{[MF_QUERY_SCAN] = 0.95, [MF_QUERY_INSERT] = 0.05},
	{[MF_QUERY_READ] = 0.5, [MF_QUERY_RMW] = 0.5},
	{[MF_QUERY_READ] = 1},
};

static const char *const keys_names[] = {[MF_STORE_ZIPFIAN] = "zipfian",
					 [MF_STORE_UNIFORM] = "uniform",
					 [MF_STORE_LATEST] = "latest",
					 [MF_STORE_LATEST + 1] = NULL};
static const char *const place_names[] = {
	[MF_STORE_STRIPE] = "stripe", [MF_STORE_RANGE] = "range", [MF_STORE_RANGE + 1] = NULL};
static const char *const length_names[] = {"uniform", "zipfian", NULL};

#define YCSB(m) CFG_AT(struct mf_config_ycsb, m)
const struct cfg_field cfg_ycsb_fields[] = {
	{.key = "ycsb", .kind = CFG_ENUM, YCSB(name), .names = names},
	{.key = "records", .kind = CFG_U64, YCSB(records), CFG_RANGE(1, UINT64_C(1) << 40)},
	{.key = "inserts", .kind = CFG_U64, YCSB(inserts), CFG_RANGE(0, UINT64_C(1) << 30)},
	{.key = "fields", .kind = CFG_U32, YCSB(fields), CFG_RANGE(1, 1024)},
	{.key = "field", .kind = CFG_SIZE32, YCSB(field), CFG_RANGE(MF_STORE_FIELD_MIN, 65536)},
	{.key = "keys", .kind = CFG_ENUM, YCSB(keys), .names = keys_names},
	{.key = "place", .kind = CFG_ENUM, YCSB(place), .names = place_names},
	{.key = "read_all", .kind = CFG_BOOL, YCSB(read_all)},
	{.key = "write_all", .kind = CFG_BOOL, YCSB(write_all)},
	{.key = "acknowledge", .kind = CFG_BOOL, YCSB(acknowledge)},
	{.key = "scan", .kind = CFG_U32, YCSB(scan), CFG_RANGE(1, 1 << 20)},
	{.key = "scan_lengths", .kind = CFG_ENUM, YCSB(scan_lengths), .names = length_names},
	{.key = "local", .kind = CFG_REAL, YCSB(local), .rlo = 0, .rhi = 1},
	{.key = "local_time", .kind = CFG_TIME, YCSB(local_time), CFG_RANGE(0, MF_SEC(1))},
	{0},
};

struct mf_store mf_config_store(const struct mf_config_workload *w)
{
	const struct mf_config_ycsb *y = &w->ycsb;

	return (struct mf_store){.records = y->records,
				 .inserts = y->inserts,
				 .fields = y->fields,
				 .field = y->field,
				 .targets = w->targets.n,
				 .clients = w->clients.n,
				 .place = (enum mf_store_place)y->place};
}

static int read_mix(struct cfg *c, const json_t *json, struct mf_config_ycsb *y)
{
	struct cfg_field table[MF_QUERY_KINDS + 1] = {{0}};
	int rc;

	for (size_t i = 0; i < MF_QUERY_KINDS; i++)
		table[i] = (struct cfg_field){.key = cfg_query_names[i],
					      .kind = CFG_REAL,
					      .offset = i * sizeof(double),
					      .rhi = 1e9};
	memset(y->mix, 0, sizeof(y->mix));
	cfg_push(c, "mix");
	rc = cfg_object(c, json, table, y->mix);
	y->mix_sum = 0;
	for (int i = 0; i < MF_QUERY_KINDS; i++)
		y->mix_sum += y->mix[i];
	if (rc == 0 && y->mix_sum == 0)
		rc = cfg_fail(c, "has no weight above 0");
	cfg_pop(c);
	return rc;
}

/* What the name stands for, where the file does not say it itself. */
static int read_name(struct cfg *c, const json_t *json, struct mf_config_ycsb *y)
{
	static const char *const drawn[] = {"mix", "keys", "inserts", NULL}, *const scan[] = {"scan",
											      "scan_lengths",
											      NULL};
	const json_t *mix = json_object_get(json, "mix");
	int rc = 0;

	memcpy(y->mix, mixes[y->name], sizeof(y->mix));
	y->mix_sum = 1;
	if (y->name == NAME_TRACE)
		return cfg_refuse(c, json, drawn, "the trace says what is done");
	if (json_object_get(json, "trace") != NULL)
		return cfg_fail_key(c, "trace", "has no effect: ycsb is not \"trace\"");
	if (json_object_get(json, "keys") == NULL && y->name == NAME_D)
		y->keys = MF_STORE_LATEST;
	if (mix != NULL)
		rc = read_mix(c, mix, y);
	if (rc == 0 && json_object_get(json, "inserts") == NULL && y->mix[MF_QUERY_INSERT] > 0)
		y->inserts = INSERTS;
	if (rc == 0 && y->mix[MF_QUERY_INSERT] > 0 && y->inserts == 0)
		rc = cfg_fail_key(c, "inserts", "0 is no room for what mix inserts");
	if (rc == 0 && y->mix[MF_QUERY_SCAN] == 0)
		rc = cfg_refuse(c, json, scan, "there are no scans in the mix");
	if (rc == 0 && y->mix[MF_QUERY_SCAN] > 0 && y->scan > y->records)
		rc = cfg_fail_key(c, "scan", "%u is more than there are records, %" PRIu64, y->scan,
				  y->records);
	return rc;
}

static int read_trace(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	if (w->ycsb.name != NAME_TRACE)
		return 0;
	if (json_object_get(json, "trace") == NULL)
		return cfg_fail_key(c, "trace", "is missing");
	if (w->ycsb.scan > w->ycsb.records)
		w->ycsb.scan = (uint32_t)w->ycsb.records;
	return cfg_trace(c, json, w);
}

/* Messages of a query in the mean, as the other parts of a workload know them. */
static void describe(struct mf_config_workload *w, uint64_t longest)
{
	const struct mf_config_ycsb *y = &w->ycsb;
	const struct mf_store store = mf_config_store(w);
	uint64_t record = mf_store_record(&store), read = y->read_all ? record : y->field,
		 write = y->write_all ? record : y->field;
	double scans = y->mix[MF_QUERY_SCAN] * mf_store_scan_parts(&store, (y->scan + 1) / 2);
	double reads = y->mix[MF_QUERY_READ] + y->mix[MF_QUERY_RMW], inserts = y->mix[MF_QUERY_INSERT];
	double updates = y->mix[MF_QUERY_UPDATE] + y->mix[MF_QUERY_RMW];

	memset(w->mix, 0, sizeof(w->mix));
	w->mix[MF_MIX_READ] = reads + scans;
	w->mix[y->acknowledge ? MF_MIX_WRITE_ACK : MF_MIX_WRITE] = updates + inserts;
	w->mix_sum = reads + scans + updates + inserts;
	w->size = (struct mf_config_size){.dist = MF_CONFIG_UNIFORM, .n = 2, .max = (uint32_t)longest};
	w->size.size[0] = y->field;
	w->size.size[1] = (uint32_t)longest;
	w->size.mean = (reads * (double)read + updates * (double)write + inserts * (double)record +
			y->mix[MF_QUERY_SCAN] * (y->scan + 1) / 2.0 * (double)record) /
		       w->mix_sum;
}

/* Buffers: what is under way at a time has to fit. */
static int check_room(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	const struct mf_store store = mf_config_store(w);
	bool scans = w->ycsb.mix[MF_QUERY_SCAN] > 0 || w->ycsb.name == NAME_TRACE;
	uint64_t longest = mf_store_record(&store), parts = 1, most, extent = mf_store_extent(&store);

	if (scans) {
		uint64_t scan = mf_store_scan_octets(&store, w->ycsb.scan);

		longest = scan > longest ? scan : longest;
		parts = mf_store_scan_parts(&store, w->ycsb.scan);
	}
	if (longest > MF_CONFIG_TRANSFER_MAX)
		return cfg_fail_key(c, scans ? "scan" : "fields",
				    "%" PRIu64 " octets in one read, at most %u", longest,
				    MF_CONFIG_TRANSFER_MAX);
	most = MF_CONFIG_BUFFER_MAX / longest / parts;
	most = most < 65536 / parts ? most : 65536 / parts;
	if (json_object_get(json, "depth") == NULL) {
		w->depth = w->open ? DEPTH_OPEN : w->depth;
		w->depth = w->depth < most ? w->depth : (uint32_t)most;
	}
	if (w->depth > most || most == 0)
		return cfg_fail_key(c, "depth",
				    "%u queries of up to %" PRIu64 " reads of up to %" PRIu64
				    " octets: at most %" PRIu64,
				    w->depth, parts, longest, most);
	/* Regions are laid as if each client had a share of it. */
	w->span = ((extent + w->clients.n - 1) / w->clients.n + 7) / 8 * 8;
	describe(w, longest);
	return 0;
}

int cfg_ycsb(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const without[] = {"size", "pattern", "address", "span", "burst", NULL},
				 *const theta[] = {"theta", NULL};
	struct mf_config_ycsb *y = &w->ycsb;
	int rc = cfg_refuse(c, json, without, "the store says it");

	y->on = true;
	if (json_object_get(json, "local_time") == NULL)
		y->local_time = c->memory.dram != MF_NEVER
					? c->memory.dram
					: c->config->tier[c->config->node[w->clients.node[0]].tier].dram;
	if (rc == 0)
		rc = read_name(c, json, y);
	if (rc == 0 && y->keys == MF_STORE_UNIFORM) {
		w->theta = 0;
		rc = y->scan_lengths == 0 ? cfg_refuse(c, json, theta, "nothing is zipfian") : 0;
	}
	if (rc == 0)
		rc = cfg_loop(c, json, w);
	if (rc == 0)
		rc = read_trace(c, json, w);
	return rc != 0 ? rc : check_room(c, json, w);
}

void cfg_put_ycsb(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	static const char *const without[] = {"pattern", "address", "span", "burst", NULL},
				 *const scan[] = {"scan", "scan_lengths", NULL},
				 *const drawn[] = {"keys", "inserts", NULL};
	json_t *mix;

	cfg_put_fields(p, json, cfg_ycsb_fields, &w->ycsb);
	cfg_put_drop(json, without);
	if (w->ycsb.scan_lengths == 0 && (w->ycsb.name == NAME_TRACE || w->ycsb.keys == MF_STORE_UNIFORM))
		json_object_del(json, "theta");
	if (w->ycsb.name == NAME_TRACE) {
		cfg_put_drop(json, drawn);
		return;
	}
	mix = cfg_put_set(p, json, "mix", json_object());
	for (int i = 0; i < MF_QUERY_KINDS; i++)
		if (w->ycsb.mix[i] > 0)
			cfg_put_set(p, mix, cfg_query_names[i], json_real(w->ycsb.mix[i]));
	if (w->ycsb.mix[MF_QUERY_SCAN] == 0)
		cfg_put_drop(json, scan);
}
