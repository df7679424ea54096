/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces of the kernel that go away and come back: a NIC is pulled out, a veth is deleted, or is moved to
 * another network namespace. The socket of a net_af_packet is bound to the interface itself, not to its
 * name, so it hears nothing ever again, and says nothing about it. A socket of our own is bound beside it, to
 * no protocol: it gets no frames, and is asked where it is bound whenever the port has been silent. Where
 * that is nowhere the device goes, and is made again when there is an interface of that name.
 *
 * Both may sleep in the kernel for long, so a thread does it; the port's lcore leaves a device alone that is
 * not started.
 */
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_packet.h>

#include <rte_lcore.h>

#include "wall/ports/hotplug.h"

#define LOOK_US 20000
#define LOOKS 10 /**< between two attempts to have a device */

/** The name behind "iface=", or "". */
static void name_of(const struct wall_port *p, char name[IF_NAMESIZE])
{
	const char *from = strstr(p->config->device, ",iface=");

	name[0] = '\0';
	if (from == NULL)
		return;
	from += strlen(",iface=");
	snprintf(name, IF_NAMESIZE, "%.*s", (int)strcspn(from, ","), from);
}

void interface_watch(struct wall_port *p)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET};
	struct rte_eth_dev_info info;
	int fd;

	if (strncmp(p->config->device, "net_af_packet", 13) != 0 || rte_eth_dev_info_get(p->id, &info) != 0)
		return;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	to.sll_ifindex = (int)info.if_index;
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
		close(fd);
		fd = -1;
	}
	p->watch = fd + 1;
}

void interface_unwatch(struct wall_port *p)
{
	if (p->watch != 0)
		close(p->watch - 1);
	p->watch = 0;
}

static bool is_gone(const struct wall_port *p)
{
	struct sockaddr_ll at;
	socklen_t len = sizeof(at);

	return p->watch != 0 && getsockname(p->watch - 1, (struct sockaddr *)&at, &len) == 0 &&
	       at.sll_ifindex <= 0;
}

static void say(const struct wall *w, const struct wall_port *p, bool gone)
{
	if (w->options->device != NULL)
		w->options->device(w->options->say_ctx, p->config->name, p->config->device,
				   gone ? "is gone" : "is there again");
}

/** Who reads the counters of ports does not meet one that is half there. */
static void drop(struct wall_port *p)
{
	pthread_mutex_lock(p->readers);
	port_device_drop(p);
	pthread_mutex_unlock(p->readers);
}

static bool make(struct wall_port *p)
{
	char err[256];
	int rc;

	pthread_mutex_lock(p->readers);
	rc = port_device_make(p, err, sizeof(err));
	if (rc != 0)
		port_device_drop(p);
	pthread_mutex_unlock(p->readers);
	return rc == 0;
}

static void *replace(void *port)
{
	struct wall_port *p = port;
	char name[IF_NAMESIZE];
	unsigned int looks = 0;

	name_of(p, name);
	drop(p);
	while (!p->leaving) {
		if (looks++ % LOOKS == 0 && if_nametoindex(name) != 0 && make(p))
			break;
		usleep(LOOK_US);
	}
	p->replaced = true;
	return NULL;
}

bool interface_look(const struct wall *w, struct wall_port *p)
{
	if (!p->gone) {
		if (!is_gone(p))
			return true;
		p->started = p->replaced = false;
		p->gone = rte_ctrl_thread_create(&p->replacer, "interface", NULL, replace, p) == 0;
		if (p->gone)
			say(w, p, true);
		return false;
	}
	if (!p->replaced)
		return false;
	pthread_join(p->replacer, NULL);
	p->gone = false;
	for (unsigned int i = 0; i < p->ends; i++)
		mf_link_set_mac(p->end[i].link, p->mac);
	say(w, p, false);
	return true;
}

void interface_leave(struct wall_port *p)
{
	p->leaving = true;
	if (p->gone)
		pthread_join(p->replacer, NULL);
	p->gone = false;
}
