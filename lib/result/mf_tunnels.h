/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of one port, and of one end of a link that it carries. */
#ifndef MF_TUNNELS_H
#define MF_TUNNELS_H

#include <jansson.h>

struct tunnel_port;
struct tunnel_end;
struct mf_fabric;

json_t *port_json(const struct tunnel_port *p);
json_t *end_json(const struct mf_fabric *f, const struct tunnel_end *e);

#endif
