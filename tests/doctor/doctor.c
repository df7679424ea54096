/* SPDX-License-Identifier: BSD-3-Clause */
/* What memfab-doctor does without files: sets of CPUs, lcores, listening, and what is made of it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mf_rng.h"
#include "check.h"
#include "check_noise.h"
#include "cpus.h"

Test(doctor, sets_are_read)
{
	static const struct {
		const char *text;
		int rc, count;
	} cases[] = {
		{"", 0, 0},          {"0", 0, 1},
		{"0-3,8", 0, 5},     {"1023", 0, 1},
		{"3-1", -EINVAL, 0}, {"1024", -EINVAL, 0},
		{"0-", -EINVAL, 0},  {"0,", -EINVAL, 0},
		{",1", -EINVAL, 0},  {"a", -EINVAL, 0},
		{"-1", -EINVAL, 0},  {"(null)", -EINVAL, 0},
		{"0 1", -EINVAL, 0}, {"99999999999999999999", -EINVAL, 0},
	};
	cpu_set_t set;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(cpus_parse(cases[i].text, &set), cases[i].rc, "'%s'", cases[i].text);
		if (cases[i].rc == 0)
			cr_expect_eq(CPU_COUNT(&set), cases[i].count, "'%s'", cases[i].text);
	}
}

/* What does not fit is cut between two items, and says so. */
Test(doctor, sets_are_written_and_read_back)
{
	const uint64_t seed = 7;
	struct mf_rng rng;
	unsigned int whole = 0, cut = 0;

	mf_rng_init(&rng, seed, "cpus", 0);
	for (int round = 0; round < 2000; round++) {
		char text[CPUS_TEXT];
		cpu_set_t set, again;
		unsigned int spread = 1 + (unsigned int)(mf_rng_next(&rng) % 200);

		CPU_ZERO(&set);
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (mf_rng_next(&rng) % spread == 0)
				CPU_SET(cpu, &set);
		cpus_text(&set, text);
		cr_assert_lt(strlen(text), CPUS_TEXT);
		if (strstr(text, ",...") != NULL) {
			*strstr(text, ",...") = '\0';
			cut++;
		} else {
			whole++;
		}
		cr_assert_eq(cpus_parse(text, &again), 0, "seed %ju: %s", (uintmax_t)seed, text);
		for (int cpu = cpus_next(&again, 0); cpu >= 0; cpu = cpus_next(&again, cpu + 1))
			cr_assert(CPU_ISSET(cpu, &set), "seed %ju: %d", (uintmax_t)seed, cpu);
		cr_assert(text[0] == '\0' || cut > 0 || CPU_EQUAL(&set, &again));
	}
	cr_expect_gt(whole, 0);
	cr_expect_gt(cut, 0);
}

Test(doctor, lcores_as_eal_takes_them)
{
	static const struct {
		const char *text;
		int lcores;
		const char *cpus;
	} cases[] = {
		{"0", 1, "0"},
		{"1-3,5", 4, "1-3,5"},
		{"0@2,1@3", 2, "2-3"},
		{"(0-1)@0", 2, "0"},
		{"1,2@(5-7),(3-5)@(0,2),(0,6),7-8", 9, "0-2,5-8"},
		{"0-3@7", 4, "7"},
		{"", -EINVAL, ""},
		{"0,0", -EINVAL, ""},
		{"0@", -EINVAL, ""},
		{"(0", -EINVAL, ""},
		{"()@1", -EINVAL, ""},
		{"0@1@2", -EINVAL, ""},
		{"0,", -EINVAL, ""},
		{"x", -EINVAL, ""},
	};
	char text[CPUS_TEXT];
	cpu_set_t cpus;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(cpus_lcores(cases[i].text, &cpus), cases[i].lcores, "'%s'", cases[i].text);
		if (cases[i].lcores > 0)
			cr_expect_str_eq(cpus_text(&cpus, text), cases[i].cpus);
	}
}

Test(doctor, the_worst_counts)
{
	struct finding f = {0};

	say(&f, "a %d", 1);
	worse(&f, WARN, "first");
	worse(&f, FAIL, "second");
	worse(&f, WARN, "third");
	worse(&f, FAIL, "fourth");
	say(&f, "b");
	cr_expect_eq(f.level, FAIL);
	cr_expect_str_eq(f.found, "a 1; b");
	cr_expect_str_eq(f.mend, "second; fourth");
	for (int i = 0; i < 1000; i++)
		say(&f, "more");
	cr_expect_eq(strlen(f.found), sizeof(f.found) - 1);
}

Test(doctor, noise_is_judged_by_the_worst_cpu)
{
	static const struct {
		struct noise heard[2];
		enum level level;
	} cases[] = {
		{{{.cpu = 0, .share = 1, .longest = 2e-6}, {.cpu = 1, .share = 0.995, .longest = 90e-6}},
		 PASS},
		{{{.cpu = 0, .share = 1, .longest = 2e-6}, {.cpu = 1, .share = 0.98, .longest = 50e-6}},
		 WARN},
		{{{.cpu = 0, .share = 0.999, .longest = 2e-3}, {.cpu = 1, .share = 1, .longest = 2e-6}},
		 WARN},
		{{{.cpu = 0, .share = 0.5, .longest = 2e-3}, {.cpu = 1, .share = 1, .longest = 2e-6}}, FAIL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct finding f = {0};

		noise_judge(cases[i].heard, 2, &f);
		cr_expect_eq(f.level, cases[i].level, "%zu: %s", i, f.found);
		cr_expect_eq(f.mend[0] != '\0', f.level != PASS);
		cr_expect_eq(json_array_size(f.detail), 2);
		json_decref(f.detail);
	}
}

/* Of a machine under load nothing can be said but that it comes to an end, and leaves all as it was. */
Test(doctor, listening)
{
	cpu_set_t before, after;
	struct noise heard;
	int cpu;

	cr_assert_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	cpu = cpus_next(&before, 0);
	cr_assert_eq(noise_listen(cpu, 0.02, &heard), 0);
	cr_expect_eq(heard.cpu, cpu);
	cr_expect(heard.share > 0 && heard.share <= 1, "%g", heard.share);
	cr_expect(heard.longest >= 0 && (heard.gaps > 0) == (heard.longest > 0));
	cr_assert_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	cr_expect(CPU_EQUAL(&before, &after));
	cr_expect_lt(noise_listen(CPU_SETSIZE - 1, 0.02, &heard), 0);
}

/* Somebody else who polls on the CPU is heard, who sleeps is not. */
Test(doctor, another_thread_is_heard)
{
	cpu_set_t set;
	struct noise heard;
	int cpu;
	pid_t child;

	cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	cpu = cpus_next(&set, 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		alarm(10);
		for (;;)
			__asm__ volatile("");
	}
	usleep(50000);
	cr_expect_eq(noise_listen(cpu, 0.3, &heard), 0);
	kill(child, SIGKILL);
	cr_expect(heard.share < 0.9 && heard.longest > 100e-6, "%g %g", heard.share, heard.longest);
}

Test(doctor, versions_of_dpdk)
{
	struct machine m = {.root = "", .build = {.dpdk = "DPDK 1.2", .running = "DPDK 1.2", .left_out = ""}};
	struct finding same = {0}, other = {0}, without = {0};

	check_dpdk.run(&m, &same);
	cr_expect_eq(same.level, PASS);
	m.build.running = "DPDK 1.3";
	check_dpdk.run(&m, &other);
	cr_expect_eq(other.level, WARN);
	cr_expect_not_null(strstr(other.found, "DPDK 1.3"));
	m.build.running = "DPDK 1.2";
	m.build.left_out = "no network";
	check_dpdk.run(&m, &without);
	cr_expect_eq(without.level, WARN);
	cr_expect_not_null(strstr(without.found, "no network"));
}
