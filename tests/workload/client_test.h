/* SPDX-License-Identifier: BSD-3-Clause */
/* A client and its fake host, driven as the virtual clock drives them. */
#ifndef CLIENT_TEST_H
#define CLIENT_TEST_H

#include "fake_host.h"
#include "workload/mf_workload.h"

#define TEST_NODE 2
#define TEST_SPAN 4096

/** Reads, on targets 0..3 with regions at different places. */
struct mf_client_config test_config(struct mf_node *h);

/** A mix of everything. */
void test_mix_all(struct mf_client_config *config);

/** Runs until time until, or until nothing is due. @return the time of the last call */
mf_time test_drive(struct mf_client *c, struct mf_node *h, mf_time from, mf_time until);

/** Makes a client, drives it to its end, frees it. */
struct mf_client_stats *test_run(const struct mf_client_config *config);

#endif
