/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether all of a fabric is connected, and all is done, where links between its switches, or nodes, lead to
 * other processes. */
#ifndef WALL_PORTS_REACH_H
#define WALL_PORTS_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wall;

/** The ports of this process have their ends. @return 0, -ENOMEM, or -EINVAL: it is too wide */
int reach_set_up(struct wall *w, char *err, size_t errlen);
/**
 * By the thread that polls the ports, now and then.
 * @param here  all links of this process are up
 * @return all links of the fabric are, or have been
 */
bool reach_ready(struct wall *w, bool here);
/** @return a partner has told that all links of the fabric are, or have been up */
bool reach_is_told(const struct wall *w);
/**
 * The same of what clients had to do.
 * @param here  all nodes of this process, and all with a link to it, are done
 */
bool reach_done(struct wall *w, bool here);
/** Whether a link between switches, or between nodes, leads to another process. */
bool reach_has_partners(const struct wall *w);
/** What to tell of both over such links, as mf_link_set_state() takes it. */
uint16_t reach_state(const struct wall *w);

#endif
