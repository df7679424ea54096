/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "workload/mf_trace.h"

#define ROWS_MAX 1000

/** Octets that are given out in pieces. */
struct source {
	const char *text;
	size_t len, at;
	size_t piece; /**< 0: as many as there is room for */
	int error; /**< behind the last octet, instead of the end */
};

static ssize_t fill(void *ctx, void *buf, size_t room)
{
	struct source *s = ctx;
	size_t n = s->len - s->at;

	n = n < room ? n : room;
	n = s->piece > 0 && n > s->piece ? s->piece : n;
	memcpy(buf, s->text + s->at, n);
	s->at += n;
	return n > 0 ? (ssize_t)n : s->error;
}

struct outcome {
	char note[MF_TRACE_ERROR]; /**< "": none */
	unsigned int rows;
	struct mf_trace_row row[ROWS_MAX];
	enum mf_trace_format format;
	uint64_t digest;
	char error[MF_TRACE_ERROR];
};

static struct outcome *read_all(struct source *s, enum mf_trace_format format)
{
	struct outcome *o = calloc(1, sizeof(*o));
	struct mf_trace *t;
	int rc = mf_trace_of(&t, fill, s, "T", format, o->error, sizeof(o->error));

	if (rc != 0) {
		cr_assert_null(t);
		cr_assert(o->error[0] != '\0');
		return o;
	}
	while ((rc = mf_trace_next(t, &o->row[o->rows])) > 0)
		cr_assert_lt(++o->rows, ROWS_MAX);
	o->format = mf_trace_format(t);
	if (rc == 0)
		o->digest = mf_trace_digest(t);
	if (rc == 0 && mf_trace_note(t) != NULL)
		snprintf(o->note, sizeof(o->note), "%s", mf_trace_note(t));
	if (rc != 0)
		snprintf(o->error, sizeof(o->error), "%s", mf_trace_error(t));
	cr_assert_eq(mf_trace_next(t, &o->row[o->rows]), rc == 0 ? 0 : -EINVAL, "what is over stays over");
	mf_trace_close(t);
	return o;
}

static struct outcome *read_text(const char *text)
{
	return read_all(&(struct source){.text = text, .len = strlen(text)}, MF_TRACE_AUTO);
}

#define HEAD "start_ps,kind,src,dst,octets,request_octets\n"
#define LONG_60 "000000000000000000000000000000000000000000000000000000000000"

#define HEAD_ADDR "start_ps,kind,src,dst,octets,request_octets,addr\n"

static const struct {
	const char *text, *says;
} bad[] = {
	{"", "T:1: the file is empty"},
	{"\n\n", "T:1: the file is empty"},
	{"hello\n", "T:1: this is a line of none of the formats: memfab, edm, ycsb, hpcc, ycsb-log"},
	{"1,1,0,1,16,64\n", "T:1: this is a line of none"},
	{"1;1;0;1;64;8;0\n", "T:1: this is a line of none"},
	{"0,1,0,1,16,64,0\n1,1,0,1,16,64\n", "T:2: 6 columns, a line of format edm has 7"},
	{"0,1,0,1,16,64,0\n1,1,0,1,16,64,0,0\n", "T:2: at least 8 columns, a line of format edm has 7"},
	{"0,1,0,1,16,64,0\n,1,0,1,64,8,0\n", "T:2: id is missing"},
	{"0,1,0,1,16,64,0\n1,1,0,1,16,,0\n", "T:2: size is missing"},
	{"0,1,0,1,16,-64,0\n", "T:1: size -64 is negative"},
	{"0,1,0,1,16,64,-1\n", "T:1: start slot -1 is negative"},
	{"0,1,0,1,16,0,0\n", "T:1: size 0 is out of range: 1 to 1099511627776"},
	{"0,1,0,1,16,1099511627777,0\n", "T:1: size 1099511627777 is out of range"},
	{"0,1,0,1,16,18446744073709551680,0\n", "T:1: size 18446744073709551680 is out of range"},
	{"0,1,0,1,16,64.5,0\n", "T:1: size '64.5' is not a whole number"},
	{"0,1,0,1,16,0x40,0\n", "T:1: size '0x40' is not a whole number"},
	{"0,1,0,1,16,+64,0\n", "T:1: size '+64' is not a whole number"},
	{"0,1,0,1,16,6 4,0\n", "T:1: size '6 4' is not a whole number"},
	{"0,1,0,1,16,-,0\n", "T:1: size '-' is not a whole number"},
	{"0,2,0,1,64,8,0\n", "T:1: type '2' is neither 1 (read) nor 3 (write)"},
	{"0,13,0,1,64,8,0\n", "T:1: type '13' is neither"},
	{"0,3,0,1,64,8,0\n", "T:1: read bytes '8' of a write are not -1"},
	{"0,1,0,1,16,-1,0\n", "T:1: size -1 is negative"},
	{"0,1,0,1,64,8,0\n",
	 "T:1: column 5 of a read is its request: 64 bytes are more than 16. memfab once wrote columns 5 "
	 "and 6 of reads exchanged; to exchange them: awk -F, -v OFS=, '$2==1{t=$5;$5=$6;$6=t}1' OLD >NEW"},
	{"0,1,0,1,17,64,0\n", "T:1: column 5 of a read is its request: 17 bytes"},
	{"0,1,0,1,0,64,0\n", "T:1: request size 0 is out of range"},
	{"0,1,0,1,4294967296,64,0\n", "T:1: request size 4294967296 is out of range"},
	{"0,1,0,65536,16,64,0\n", "T:1: destination 65536 is out of range: 0 to 65535"},
	{"0,1,-3,1,16,64,0\n", "T:1: source -3 is negative"},
	{"0,1,7,7,16,64,0\n", "T:1: node 7 sends to itself"},
	{"0,1,0,1,16,64,5\n1,1,0,1,16,64,4\n", "T:2: time goes backwards: 2560 ps behind 3200 ps"},
	{"0,1,0,1,16,64,14411518807585588\n", "T:1: start slot 14411518807585588 is out of range"},
	{"0,1,0,1,16,64,0\n\n1,1,0,1,16,64,0\n", "T:2: is blank"},
	{"0,1,0,1,16,64,0\n1,1,0,1,16,6\1,0\n", "T:2: is not text: octet 0x01 at column 13"},
	{"0,1,0,1,16,64,0\n\xef\xbb\xbf", "T:2: is not text: octet 0xef at column 1"},
	{"\xff\xfe"
	 "0,1\n",
	 "T:1: is not text: octet 0xff at column 1: UTF-16: save it as UTF-8"},
	{"\xef\xbb\xbf"
	 "0,1,0,1,16,64,0\n",
	 "T:1: is not text: octet 0xef at column 1: a byte order mark: save it as UTF-8 without one"},
	{"\x1f\x8b\x08\n", "T:1: is not text: octet 0x1f at column 1: compressed by gzip: unpack it first"},
	{"0,1,0,1,16,64,0\n\x1f\x8b\n", "T:2: is not text: octet 0x1f at column 1"},
	{"0,1,0,1,16,64,0\r\n1,1,0,1,16\r,64,0\r\n", "T:2: is not text: octet 0x0d at column 11"},
	{"0,1,0,1,16,64," LONG_60 LONG_60 LONG_60 LONG_60 LONG_60 "\n", "T:1: is longer than 255 octets"},
	{HEAD, "T:1: there is no message after this line"},
	{HEAD "0,reed,0,1,64,0\n", "T:2: there is no kind 'reed'"},
	{HEAD "0,cas,0,1,64,0\n", "T:2: size 64 of an atomic operation is not 8"},
	{HEAD "9223372036854775808,read,0,1,64,0\n", "T:2: start 9223372036854775808 is out of range"},
	{HEAD "0,read,0,1,64,0,4096\n", "T:2: 7 columns, and the first line has 6"},
	{HEAD_ADDR "0,read,0,1,64,0\n", "T:2: 6 columns, and the first line has 7"},
	{HEAD_ADDR "0,read,0,1,64,0,0\n1,read,0,1,64,0,0,0\n",
	 "T:3: at least 8 columns, a line of format memfab has 6 or 7"},
	{HEAD_ADDR "0,read,0,1,64,0,\n", "T:2: address is missing"},
	{HEAD_ADDR "0,read,0,1,64,0,0x40\n", "T:2: address '0x40' is not a whole number"},
	{HEAD_ADDR "0,read,0,1,64,0,-64\n", "T:2: address -64 is negative"},
	{HEAD_ADDR "0,read,0,1,64,0,281474976710656\n", "T:2: address 281474976710656 is out of range"},
	{HEAD_ADDR "0,write,0,1,2,0,281474976710655\n",
	 "T:2: 2 octets at address 281474976710655 end beyond 48 bits"},
	{HEAD_ADDR "0,write,0,1,2,0,7\n0,fadd,0,1,8,0,12\n",
	 "T:3: address 12 of an atomic operation is no multiple of 8"},
	{"start_ps,kind,src,dst,octets,request_octets,address\n", "T:1: the first line is not start_ps,kind"},
	{"start_ps,kind,src,dst,octets,size\n", "T:1: the first line is not start_ps,kind"},
	{"0\n", "T:1: number of flows 0 is out of range"},
	{"2\n0 1 3 100 64 0.0\n", "T:2: the file ends after 1 of 2 flows"},
	{"3\n0 1 3 100 64 0.0\n\nFirst line: the number of flows\n", "T:3: is blank"},
	{"1\n0 1 3 100\n", "T:2: 4 columns, a line of format hpcc has 5 or 6"},
	{"1\n0 1 3 100 64 0.0 7\n", "T:2: 7 columns, a line of format hpcc has 5 or 6"},
	{"2\n2 1 3 10000000 2.0 9.5\n3 1 3 10000000 2.0 9.5\n",
	 "T:2: column 5, '2.0', is not a size in bytes"},
	{"1\n0 1 3 1099511627777 0.0\n", "T:2: size 1099511627777 is out of range"},
	{"1\n0 1 3 100 64 -0.5\n", "T:2: start -0.5 is negative"},
	{"1\n0 1 3 100 64 .\n", "T:2: start '.' is not a time in seconds"},
	{"1\n0 1 3 100 64 1e\n", "T:2: start '1e' is not a time in seconds"},
	{"1\n0 1 3 100 64 nan\n", "T:2: start 'nan' is not a time in seconds"},
	{"1\n0 1 3 100 64 9223373\n", "T:2: start 9223373 is out of range"},
	{"1\n0 1 3 100 64 1e999999999\n", "T:2: start 1e999999999 is out of range"},
	{"1\n0 1 256 100 64 0\n", "T:2: priority group 256 is out of range"},
	{"1\n0 1 3 65536 64 0\n", "T:2: port 65536 is out of range"},
	{"2\n0 1 3 100 64 2.5\n0 1 3 100 64 2.4\n", "T:3: time goes backwards"},
	{"0,READ,17\n1,WRITE,3\n", "T:2: there is no operation 'WRITE'"},
	{"0,READ,17,5\n", "T:1: only a SCAN has a length"},
	{"0,SCAN,17,0\n", "T:1: length 0 is out of range"},
	{"0,READ,user\n", "T:1: key is missing"},
	{"0,READ,userx\n", "T:1: key 'x' is not a whole number"},
	{"0,READ,18446744073709551616\n", "T:1: key 18446744073709551616 is out of range"},
	{"0,READ\n", "T:1: this is a line of none"},
	{"READ usertable user [ <all fields>]\n", "T:1: key is missing"},
	{"READ usertable bob [ <all fields>]\n", "T:1: key 'bob' is not a whole number"},
	{"READ usertable user1 [ <all fields>]\nUPDATE usertable user\n",
	 "T:2: after UPDATE there is no table, key and ["},
	{"READ usertable user1 [ <all fields>]\nDELETE usertable user1\n",
	 "T:2: there is no operation 'DELETE'"},
	{"SCAN usertable user1 0 [ <all fields>]\n", "T:1: length 0 is out of range"},
	{"SCAN usertable user1 [ <all fields>]\n", "T:1: this is a line of none"},
	{"0,READ,1\n1,READ\n", "T:2: 2 columns, a line of format ycsb has 3"},
};

Test(trace, bad_lines)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct outcome *o = read_text(bad[i].text);

		cr_expect_eq(strncmp(o->error, bad[i].says, strlen(bad[i].says)), 0, "%s\nsays: %s\nnot:  %s",
			     bad[i].text, o->error, bad[i].says);
		free(o);
	}
}

static bool same(const struct mf_trace_row *a, const struct mf_trace_row *b)
{
	return a->start == b->start && a->key == b->key && a->octets == b->octets &&
	       a->request == b->request && a->src == b->src && a->dst == b->dst && a->kind == b->kind &&
	       a->has_addr == b->has_addr && a->addr == b->addr;
}

static void expect_rows(const char *text, enum mf_trace_format format, const struct mf_trace_row *row,
			unsigned int rows)
{
	struct outcome *o = read_text(text);

	cr_assert_str_eq(o->error, "", "%s", text);
	cr_assert_eq(o->format, format);
	cr_assert_eq(o->rows, rows, "%s", text);
	for (unsigned int i = 0; i < rows; i++)
		cr_assert(same(&o->row[i], &row[i]), "%s row %u", text, i);
	free(o);
}

/* As the others' tools write them, with the ends of lines of other systems, and without a last one. */
Test(trace, good_lines)
{
	static const struct mf_trace_row
		edm[] = {{.start = 0, .octets = 64, .request = 16, .src = 0, .dst = 143},
			 {.start = 6400, .octets = 5840, .src = 5, .dst = 4, .kind = MF_CLIENT_WRITE}},
		hpcc[] = {{.start = 2000000123000,
			   .octets = 1000,
			   .src = 2,
			   .dst = 1,
			   .kind = MF_CLIENT_WRITE},
			  {.start = 2000000123500, .octets = 1, .src = 0, .dst = 3, .kind = MF_CLIENT_WRITE}},
		ycsb[] = {{.key = 6284781860667377211, .kind = MF_QUERY_READ},
			  {.key = 7, .kind = MF_QUERY_RMW},
			  {.key = 8, .kind = MF_QUERY_SCAN},
			  {.key = 9, .kind = MF_QUERY_SCAN, .octets = 100}},
		all[] = {{.start = 1, .octets = 8, .src = 1, .dst = 0, .kind = MF_CLIENT_FADD},
			 {.start = 1, .octets = 9, .src = 1, .dst = 0, .kind = MF_CLIENT_WRITE_ACK}};

	expect_rows("0,1,0,143,16,64,0\n1,3,5,4,5840,-1,10\n", MF_TRACE_EDM, edm, 2);
	expect_rows("0,1,0,143,16,64,0\r\n1,3,5,4,5840,-1,10", MF_TRACE_EDM, edm, 2);
	expect_rows(" 0 ,1,\t0,143,16 ,64,0\n1,3,5,4,5840,-1,10\n\n \r\n", MF_TRACE_EDM, edm, 2);
	expect_rows("2\n2 1 3 100 1000 2.000000123\n0 3 3 100 1 2000000123.5e-9\n", MF_TRACE_HPCC, hpcc, 2);
	expect_rows("2 \n\t2 1  3 100 1000\t2.0000001230000004\n0 3 3 100 1 2.0000001235\r\n", MF_TRACE_HPCC,
		    hpcc, 2);
	expect_rows("0,READ,user6284781860667377211\n1,READMODIFYWRITE,7\n2,SCAN,8\n3,SCAN,user9,100\n",
		    MF_TRACE_YCSB, ycsb, 4);
	expect_rows(HEAD "1,fadd,1,0,8,0\n1,write_ack,1,0,9,0\n", MF_TRACE_MEMFAB, all, 2);
}

/* More rows than the first line says, prose, rows without a port, and flows of any length, as they are
 * shipped. */
Test(trace, flow_files_of_the_family)
{
	static const struct mf_trace_row two[] =
		{{.start = MF_SEC(2), .octets = 200000000, .src = 2, .dst = 1, .kind = MF_CLIENT_WRITE},
		 {.start = MF_SEC(2), .octets = 150000000, .src = 3, .dst = 1, .kind = MF_CLIENT_WRITE}},
					 long_one[] = {{.start = MF_MS(100),
							.octets = 1000000000000,
							.src = 0,
							.dst = 32,
							.kind = MF_CLIENT_WRITE}},
					 five[] = {{.start = MF_SEC(2) + MF_NS(123),
						    .octets = 4096,
						    .src = 7,
						    .dst = 3,
						    .kind = MF_CLIENT_WRITE}};
	static const struct {
		const char *text, *note;
	} notes[] = {
		{"1\n7 3 3 4096 2.000000123", ""},
		{"1\n7 3 3 4096 2.0\n\n \n", ""},
		{"1\n7 3 3 4096 2.0\n\nFirst line: # of flows\n",
		 "T: the first line says 1 flows: 1 line after them is left out"},
		{"1\n7 3 3 4096 2.0\n8 3 3 4096 1.0\n\nsrc0 dst0\n\xff\0",
		 "T: the first line says 1 flows: 3 lines after them are left out"},
	};

	expect_rows("2\n2 1 3 100 200000000 2\n3 1 3 100 150000000 2\n4 1 3 100 5000000 2\n\n"
		    "First line: # of flows\nsrc0 dst0 3 dst_port0 size0 start_time0\n...\n",
		    MF_TRACE_HPCC, two, 2);
	expect_rows("1\n0 32 3 10000 1000000000000 0.1", MF_TRACE_HPCC, long_one, 1);
	expect_rows("1 \n7 3 3 4096 2.000000123\n", MF_TRACE_HPCC, five, 1);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		struct outcome *o = read_text(notes[i].text);

		cr_expect_str_eq(o->error, "");
		cr_expect_str_eq(o->note, notes[i].note, "%s", o->note);
		free(o);
	}
}

#define PROPERTIES                                         \
	"***************** properties *****************\n" \
	"\"recordcount\"=\"1000\"\n"                       \
	"**********************************************\n"

/* Among any other lines, with values of any length and of any octets. */
Test(trace, log_of_ycsb)
{
	static const struct mf_trace_row row[] = {{.key = 6284781860667377211, .kind = MF_QUERY_READ},
						  {.key = 7, .kind = MF_QUERY_UPDATE},
						  {.key = 8, .kind = MF_QUERY_INSERT},
						  {.key = 9, .octets = 64, .kind = MF_QUERY_SCAN},
						  {.key = 9, .kind = MF_QUERY_READ}};
	static const char lines[] =
		"READ usertable user6284781860667377211 [ <all fields>]\n"
		"UPDATE usertable user7 [ field3=\x7f[1% Za;:h?n'] ]\n"
		"2026-01-01 00:00:00:000 10 sec: 3 operations; [READ: Count=1]\n\n"
		"INSERT usertable user0008 [ field0=" LONG_60 LONG_60 LONG_60 LONG_60 LONG_60 LONG_60 " ]\r\n"
		"SCAN usertable user9 64 [ field1 field2 ]\n"
		"[OVERALL], RunTime(ms), 17\n"
		"READ usertable 9 [ ]";
	char *text;
	struct outcome *o;

	expect_rows(lines, MF_TRACE_LOG, row, 5);
	cr_assert_geq(asprintf(&text, "java -cp \xc3\xa4 %s%s\n" PROPERTIES "%s", LONG_60 LONG_60 LONG_60,
			       LONG_60 LONG_60, lines),
		      0);
	expect_rows(text, MF_TRACE_LOG, row, 5);
	o = read_text(text);
	cr_expect_str_eq(o->note, "T: 7 lines are no operation and are left out");
	free(o);
	free(text);
	o = read_all(&(struct source){.text = PROPERTIES, .len = strlen(PROPERTIES)}, MF_TRACE_LOG);
	cr_expect_str_eq(o->error, "T:3: there is no message among the lines");
	free(o);
}

static uint64_t seed(void)
{
	const char *given = getenv("MF_SEED");
	uint64_t s = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)getpid();

	cr_log_info("MF_SEED=%llu", (unsigned long long)s);
	return s;
}

/** Whether a format is written, too. */
static bool is_written(enum mf_trace_format format)
{
	const struct mf_trace_row row = {.octets = 64, .kind = MF_CLIENT_WRITE};

	return mf_trace_lacks(format, &row) == NULL;
}

static struct mf_trace_row random_row(struct mf_rng *r, enum mf_trace_format format, mf_time *now)
{
	struct mf_trace_row row = {0};

	if (mf_trace_keyed(format)) {
		row.key = mf_rng_next(r) >> mf_rng_below(r, 64);
		row.kind = (uint8_t)mf_rng_below(r, MF_QUERY_KINDS);
		row.octets = row.kind == MF_QUERY_SCAN ? (uint32_t)mf_rng_below(r, 101) : 0;
		return row;
	}
	*now += mf_rng_next(r) >> (20 + mf_rng_below(r, 44));
	if (format == MF_TRACE_EDM)
		*now -= *now % MF_TRACE_SLOT;
	row.start = *now;
	row.src = (uint16_t)mf_rng_next(r);
	row.dst = row.src ^ (uint16_t)(1 + mf_rng_below(r, 65535));
	do
		row.kind = (uint8_t)mf_rng_below(r, MF_CLIENT_KINDS);
	while (mf_trace_lacks(format, &row) != NULL);
	row.octets = row.kind >= MF_CLIENT_CAS ? 8 : 1 + (mf_rng_next(r) >> (24 + mf_rng_below(r, 40)));
	if (row.kind == MF_CLIENT_READ)
		row.request =
			format == MF_TRACE_EDM ? 1 + (uint32_t)mf_rng_below(r, 16) : (uint32_t)mf_rng_next(r);
	return row;
}

static void give_address(struct mf_rng *r, struct mf_trace_row *row)
{
	row->has_addr = true;
	row->addr = mf_rng_below(r, (UINT64_C(1) << 48) - row->octets + 1);
	if (row->kind >= MF_CLIENT_CAS)
		row->addr -= row->addr % 8;
}

static char *write_rows(const struct mf_trace_row *row, unsigned int rows, enum mf_trace_format format,
			size_t *len)
{
	struct mf_trace_out out;
	char *text;
	FILE *file = open_memstream(&text, len);

	mf_trace_begin(&out, file, format, rows, row[0].has_addr);
	for (unsigned int i = 0; i < rows; i++)
		mf_trace_put(&out, &row[i]);
	cr_assert_eq(out.rows, rows);
	fclose(file);
	return text;
}

Test(trace, with_addresses)
{
	const struct mf_trace_row row[] = {
		{.octets = 2, .src = 0, .dst = 1, .has_addr = true, .addr = (UINT64_C(1) << 48) - 2},
		{.start = 1, .octets = 8, .src = 2, .dst = 1, .kind = MF_CLIENT_CAS, .has_addr = true},
	};

	expect_rows(HEAD_ADDR "0,read,0,1,2,0,281474976710654\n1,cas,2,1,8,0,0\n", MF_TRACE_MEMFAB, row, 2);
	cr_assert_str_eq(mf_trace_lacks(MF_TRACE_EDM, row), "format edm has no addresses");
	cr_assert_str_eq(mf_trace_lacks(MF_TRACE_HPCC, row), "format hpcc has no addresses");
	cr_assert_null(mf_trace_lacks(MF_TRACE_MEMFAB, row));
}

/* What is written is what is read, however the octets come. */
Test(trace, there_and_back)
{
	struct mf_rng r;

	mf_rng_init(&r, seed(), "trace", 0);
	for (int round = 0; round < 200; round++) {
		enum mf_trace_format format = (enum mf_trace_format)(round % MF_TRACE_FORMATS);
		unsigned int rows = 1 + (unsigned int)mf_rng_below(&r, 400);
		struct mf_trace_row row[400];
		struct source s = {.piece = (size_t)mf_rng_below(&r, 50)};
		struct outcome *o, *whole;
		mf_time now = 0;
		char *text;

		if (!is_written(format))
			continue;
		for (unsigned int i = 0; i < rows; i++)
			row[i] = random_row(&r, format, &now);
		for (unsigned int i = 0; i < rows && format == MF_TRACE_MEMFAB && round % 2 == 0; i++)
			give_address(&r, &row[i]);
		s.text = text = write_rows(row, rows, format, &s.len);
		o = read_all(&s, MF_TRACE_AUTO);
		cr_assert_str_eq(o->error, "");
		cr_assert_eq(o->format, format);
		cr_assert_eq(o->rows, rows);
		for (unsigned int i = 0; i < rows; i++)
			cr_assert(same(&o->row[i], &row[i]), "format %s row %u", mf_trace_format_name(format),
				  i);
		whole = read_all(&(struct source){.text = text, .len = s.len}, format);
		cr_assert_eq(whole->digest, o->digest);
		free(whole);
		text[mf_rng_below(&r, s.len)] ^= 1;
		whole = read_all(&(struct source){.text = text, .len = s.len}, format);
		cr_assert(whole->error[0] != '\0' || whole->digest != o->digest, "a changed octet is seen");
		free(whole);
		free(text);
		free(o);
	}
}

/** The rows in a format, read again. */
static struct outcome *through(const struct mf_trace_row *row, unsigned int rows, enum mf_trace_format format)
{
	struct source s = {0};
	char *text = write_rows(row, rows, format, &s.len);
	struct outcome *o;

	s.text = text;
	o = read_all(&s, format);
	free(text);
	return o;
}

/* From each format to each other one and back, of what both can say: all of it is as it was. */
Test(trace, through_another_format)
{
	struct mf_rng r;

	mf_rng_init(&r, seed(), "formats", 0);
	for (int round = 0; round < 20 * MF_TRACE_FORMATS * MF_TRACE_FORMATS; round++) {
		enum mf_trace_format a = (enum mf_trace_format)(round % MF_TRACE_FORMATS),
				     b = (enum mf_trace_format)(round / MF_TRACE_FORMATS % MF_TRACE_FORMATS);
		struct mf_trace_row row[100];
		unsigned int rows = 0;
		struct outcome *there, *back;
		mf_time now = 0;

		if (!is_written(a) || !is_written(b) || mf_trace_keyed(a) != mf_trace_keyed(b))
			continue;
		for (int i = 0; i < 100; i++) {
			row[rows] = random_row(&r, a, &now);
			if (b == MF_TRACE_EDM)
				row[rows].start = now -= now % MF_TRACE_SLOT;
			rows += mf_trace_lacks(b, &row[rows]) == NULL;
		}
		if (rows == 0)
			continue;
		there = through(row, rows, b);
		cr_assert_eq(there->rows, rows, "%s", there->error);
		back = through(there->row, rows, a);
		cr_assert_eq(back->rows, rows, "%s", back->error);
		for (unsigned int i = 0; i < rows; i++)
			cr_assert(same(&back->row[i], &row[i]), "%s by %s, row %u", mf_trace_format_name(a),
				  mf_trace_format_name(b), i);
		free(there);
		free(back);
	}
}

/* A line of EDM's own: the read is of 64 bytes, and its request of 16 stays. A request of unknown size
 * has 16. */
Test(trace, sizes_of_an_edm_read)
{
	struct outcome *o = read_text("0,1,0,1,16,64,10\n");
	char *text;
	size_t len;

	cr_assert_eq(o->row[0].octets, 64);
	cr_assert_eq(o->row[0].request, 16);
	text = write_rows(o->row, 1, MF_TRACE_MEMFAB, &len);
	cr_assert_str_eq(text, HEAD "6400,read,0,1,64,16\n");
	free(text);
	o->row[0].request = 0;
	text = write_rows(o->row, 1, MF_TRACE_EDM, &len);
	cr_assert_str_eq(text, "0,1,0,1,16,64,10\n");
	free(text);
	o->row[0].request = 17;
	cr_assert_not_null(mf_trace_lacks(MF_TRACE_EDM, &o->row[0]));
	free(o);
}

/* Octets at random, from no text at all to nearly a trace: refused in one line, or read. */
Test(trace, random_octets)
{
	static const char some[] = "0123456789,,, \n\n.-e\rREADuserstart_ps\x80";
	struct mf_rng r;

	mf_rng_init(&r, seed(), "octets", 0);
	for (int round = 0; round < 20000; round++) {
		char text[300];
		struct source s = {.text = text, .len = (size_t)mf_rng_below(&r, sizeof(text)), .piece = 7};
		struct outcome *o;

		for (size_t i = 0; i < s.len; i++)
			text[i] = round % 2 ? some[mf_rng_below(&r, sizeof(some))] : (char)mf_rng_next(&r);
		o = read_all(&s, (enum mf_trace_format)(round % (MF_TRACE_FORMATS + 1)));
		cr_assert(o->error[0] == '\0' || strncmp(o->error, "T:", 2) == 0, "%s", o->error);
		cr_assert_null(strchr(o->error, '\n'));
		free(o);
	}
}

/** Octets without an end: counts how many were asked for. */
struct flood {
	const char *octets;
	size_t len, given;
};

static ssize_t pour(void *ctx, void *buf, size_t room)
{
	struct flood *f = ctx;

	for (size_t i = 0; i < room; i++)
		((char *)buf)[i] = f->octets[(f->given + i) % f->len];
	f->given += room;
	return (ssize_t)room;
}

/* Ten gigabytes of anything are refused by what their first lines are. */
Test(trace, no_more_is_read_than_the_first_bad_line)
{
	static const char *const octets[] = {"\0\0\0",  "x", "READ usertable", "\177ELF", "0,1,0,1,16,64,0,",
					     "hello\n", "\n"};
	char err[MF_TRACE_ERROR];

	for (size_t i = 0; i < sizeof(octets) / sizeof(octets[0]); i++) {
		struct flood f = {.octets = octets[i], .len = i == 0 ? 3 : strlen(octets[i])};
		struct mf_trace *t;

		cr_assert_eq(mf_trace_of(&t, pour, &f, "F", MF_TRACE_AUTO, err, sizeof(err)), -EINVAL);
		cr_assert_eq(strncmp(err, "F:1: ", 5), 0, "%s", err);
		cr_assert_leq(f.given, 65536);
	}
}

Test(trace, read_errors_are_told)
{
	struct source s = {.text = "0,1,0,1,16,64,0\n", .len = 16, .error = -EIO};
	struct outcome *o = read_all(&s, MF_TRACE_AUTO);

	cr_assert_str_eq(o->error, "T:1: cannot be read: Input/output error");
	cr_assert_eq(o->rows, 1);
	free(o);
}

Test(trace, files)
{
	char path[] = "/tmp/memfab-test-trace-XXXXXX", err[MF_TRACE_ERROR];
	int fd = mkstemp(path);
	struct mf_trace_row row;
	struct mf_trace *t;

	cr_assert_eq(write(fd, "0,1,0,1,16,64,0\nx\n", 18), 18);
	close(fd);
	cr_assert_eq(mf_trace_open(&t, path, MF_TRACE_HPCC, false, err, sizeof(err)), -EINVAL);
	cr_assert_eq(mf_trace_open(&t, path, MF_TRACE_EDM, false, err, sizeof(err)), 0);
	cr_assert_eq(mf_trace_next(t, &row), 1);
	cr_assert_eq(mf_trace_line(t), 1);
	cr_assert_eq(mf_trace_fail(t, "node %d is not there", 5), -EINVAL);
	cr_assert_not_null(strstr(mf_trace_error(t), ":1: node 5 is not there"));
	cr_assert_eq(mf_trace_next(t, &row), -EINVAL);
	mf_trace_close(t);
	unlink(path);
	cr_assert_eq(mf_trace_open(&t, path, MF_TRACE_EDM, false, err, sizeof(err)), -ENOENT);
	cr_assert_eq(mf_trace_open(&t, "/dev/zero", MF_TRACE_EDM, false, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "/dev/zero:1: is not text: octet 0x00 at column 1");
	cr_assert_eq(mf_trace_open(&t, "/dev/null", MF_TRACE_EDM, true, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "/dev/null:1: the file is empty");
	cr_assert_eq(mf_trace_open(&t, "/", MF_TRACE_EDM, false, err, sizeof(err)), -EISDIR);
}

static unsigned int count_rows(struct mf_trace *t)
{
	struct mf_trace_row row;
	unsigned int rows = 0;
	int rc;

	while ((rc = mf_trace_next(t, &row)) > 0)
		rows++;
	cr_assert_eq(rc, 0, "%s", mf_trace_error(t));
	return rows;
}

/* A pipe is read while it is written, and once more; so is what is left of a file on a descriptor. */
Test(trace, twice)
{
	static const char line[] = "0,1,0,1,16,64,0\n", flows[] = "2\n0 1 3 64 0\n1 0 3 64 0\nprose\n";
	char err[MF_TRACE_ERROR], path[32];
	struct mf_trace *t;
	int end[2], status;
	uint64_t digest;

	cr_assert_eq(pipe(end), 0);
	if (fork() == 0) {
		for (int i = 0; i < 20000; i++)
			if (write(end[1], line, strlen(line)) < 0)
				_exit(1);
		_exit(0);
	}
	close(end[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", end[0]);
	cr_assert_eq(mf_trace_open(&t, path, MF_TRACE_AUTO, true, err, sizeof(err)), 0, "%s", err);
	cr_assert_eq(count_rows(t), 20000);
	digest = mf_trace_digest(t);
	for (int again = 0; again < 2; again++) {
		cr_assert_eq(mf_trace_rewind(t), 0, "%s", mf_trace_error(t));
		cr_assert_eq(count_rows(t), 20000);
		cr_assert_eq(mf_trace_digest(t), digest);
	}
	mf_trace_close(t);
	close(end[0]);
	cr_assert(wait(&status) > 0 && status == 0);

	cr_assert_eq(pipe(end), 0);
	cr_assert_eq(dup2(end[0], STDIN_FILENO), STDIN_FILENO);
	cr_assert_gt(write(end[1], flows, strlen(flows)), 0);
	close(end[1]);
	cr_assert_eq(mf_trace_open(&t, "-", MF_TRACE_AUTO, true, err, sizeof(err)), 0, "%s", err);
	for (int again = 0; again < 2; again++) {
		cr_assert_eq(count_rows(t), 2);
		cr_assert_str_eq(
			mf_trace_note(t),
			"standard input: the first line says 2 flows: 1 line after them is left out");
		cr_assert_eq(mf_trace_rewind(t), 0);
	}
	mf_trace_close(t);
	cr_assert_eq(mf_trace_open(&t, "-", MF_TRACE_AUTO, false, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "standard input:1: the file is empty");
}

Test(trace, formats_by_name)
{
	for (unsigned int i = 0; i < MF_TRACE_FORMATS; i++)
		cr_assert_eq(mf_trace_format_find(mf_trace_format_name((enum mf_trace_format)i)), i);
	cr_assert_eq(mf_trace_format_find("csv"), MF_TRACE_FORMATS);
	cr_assert_null(mf_trace_format_name(MF_TRACE_AUTO));
	for (unsigned int i = 0; i < MF_QUERY_KINDS; i++)
		cr_assert_eq(mf_query_kind_find(mf_query_kind_name((enum mf_query_kind)i)), i);
	cr_assert_eq(mf_query_kind_find("READ-MODIFY-WRITE"), MF_QUERY_RMW);
}
