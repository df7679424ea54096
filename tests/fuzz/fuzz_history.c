/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes histories as files (docs/history.md), and their check. The first octet says whether the sums are
 * made right, so that what stands behind them is looked at. What is accepted is written as it was read, and
 * the check comes to an end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "linear/mf_history.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define HEAD 72
#define HEAD_SUM 64
#define LOG 32
#define LOG_SUM 24
#define LARGEST (1 << 16)
#define STATES 1000

static void require(bool good)
{
	if (!good)
		abort();
}

static uint64_t word(const uint8_t *at)
{
	uint64_t w;

	memcpy(&w, at, sizeof(w));
	return w;
}

static uint64_t sum(uint64_t s, const uint8_t *at, size_t len)
{
	for (size_t i = 0; i + 8 <= len; i += 8)
		s = mf_hash64(s + word(at + i));
	return s;
}

/** As the format's description has it. */
static void seal(uint8_t *file, size_t len)
{
	uint64_t logs = len >= HEAD ? word(file + 8) >> 32 : 0, at, s;

	if (logs == 0 || logs > (len - HEAD) / LOG)
		return;
	at = HEAD + logs * LOG;
	for (uint64_t i = 0; i < logs; i++) {
		uint8_t *log = file + HEAD + i * LOG;
		uint64_t octets = word(log) <= (len - at) / 8 ? word(log) * 8 : 0;

		s = sum(1, file + at, octets);
		memcpy(log + LOG_SUM, &s, sizeof(s));
		at += octets;
	}
	s = sum(sum(1, file, HEAD_SUM), file + HEAD, logs * LOG);
	memcpy(file + HEAD_SUM, &s, sizeof(s));
}

static void written_as_read(const struct mf_history *h, const uint8_t *file, size_t len)
{
	char *again = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&again, &n);

	require(out != NULL && mf_history_write(h, out) == 0 && fclose(out) == 0);
	require(n == len && memcmp(again, file, len) == 0);
	free(again);
}

static void check(const struct mf_history *h)
{
	struct mf_history_verdict v;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	require(out != NULL && mf_history_check(&h, 1, STATES, &v) == 0);
	mf_history_explain(&v, out);
	mf_history_verdict_free(&v);
	require(fclose(out) == 0 && n > 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct mf_history *h;
	char err[128] = "";
	uint8_t *file;

	if (size == 0 || size > LARGEST)
		return 0;
	file = malloc(size);
	require(file != NULL);
	memcpy(file, input + 1, size - 1);
	if (input[0] & 1)
		seal(file, size - 1);
	h = mf_history_parse(file, size - 1, err, sizeof(err));
	require((h == NULL) == (err[0] != '\0'));
	if (h != NULL) {
		written_as_read(h, file, size - 1);
		check(h);
	}
	mf_history_free(h);
	free(file);
	return 0;
}
