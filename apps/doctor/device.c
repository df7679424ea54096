/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_build_config.h>

#include "link/mf_link_frame.h"
#include "run/mf_fabric.h"

#define ETHER_HEAD 14
#define AF_PACKET_HEAD 52 /* of the kernel, in each of its frames: TPACKET2_HDRLEN */
#define AF_PACKET_FRAME 2048 /* framesz, unless it is told */
#define FLAG_UP 1 /* IFF_UP */
#define CAP_NET_ADMIN 12
#define CAP_NET_RAW 13

void device_read(const char *text, struct device *d)
{
	size_t len = strcspn(text, ",");
	unsigned int a, b, c, dots;
	char end;

	*d = (struct device){.args = text + len};
	snprintf(d->name, sizeof(d->name), "%.*s", (int)len, text);
	if (sscanf(d->name, "%x:%x:%x.%x%c", &a, &b, &c, &dots, &end) == 4 ||
	    sscanf(d->name, "%x:%x.%x%c", &a, &b, &c, &end) == 3)
		return;
	snprintf(d->driver, sizeof(d->driver), "%s", d->name);
	for (len = strlen(d->driver); len > 0 && isdigit((unsigned char)d->driver[len - 1]); len--)
		d->driver[len - 1] = '\0';
}

bool device_arg(const struct device *d, const char *key, char *out, size_t capacity)
{
	size_t len = strlen(key);

	out[0] = '\0';
	for (const char *at = d->args; *at == ','; at += 1 + strcspn(at + 1, ","))
		if (strncmp(at + 1, key, len) == 0 && at[1 + len] == '=') {
			at += 2 + len;
			snprintf(out, capacity, "%.*s", (int)strcspn(at, ","), at);
			return true;
		}
	return false;
}

__attribute__((format(printf, 3, 4))) static void fault(struct device_fault *f, enum level level,
							const char *format, ...)
{
	va_list args;

	f->level = level;
	va_start(args, format);
	vsnprintf(f->what, sizeof(f->what), format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void mend(struct device_fault *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->mend, sizeof(f->mend), format, args);
	va_end(args);
}

/** Where nobody has said what this machine plays, what is not there may be another machine's. */
static enum level missing(const struct machine *m)
{
	return m->whole ? WARN : FAIL;
}

/* Drivers */

struct library {
	const char *driver;
	bool found;
};

/* "librte_net_memif.so.23" */
static void is_library(void *ctx, const char *name)
{
	struct library *l = ctx;
	size_t len = strlen(l->driver);

	l->found |= strncmp(name, "librte_", 7) == 0 && strncmp(name + 7, l->driver, len) == 0 &&
		    strncmp(name + 7 + len, ".so", 3) == 0;
}

/** Whether the libraries that EAL loads have it; yes where they are not to be seen. */
static bool has_driver(const struct machine *m, const char *driver)
{
	struct library l = {.driver = driver};

	return tree_each(m->root, is_library, &l, "%s", RTE_EAL_PMD_PATH) == 0 || l.found;
}

/** In the manner of Debian's packages. */
static void say_missing_driver(const struct device *d, struct device_fault *f)
{
	char package[64];

	snprintf(package, sizeof(package), "%s", d->driver);
	for (char *c = package; *c != '\0'; c++)
		*c = *c == '_' ? '-' : *c;
	fault(f, FAIL, "this DPDK has no %s", d->driver);
	mend(f, "apt-get install 'librte-%s.*', or a DPDK that has it in " RTE_EAL_PMD_PATH, package);
}

/** The interface of Linux that a driver runs on. */
static bool look_at_interface(const struct machine *m, const struct mf_config_port *p, const struct device *d,
			      struct device_fault *f)
{
	int64_t flags = 0, mtu = 0;
	char iface[64];

	if (!device_arg(d, "iface", iface, sizeof(iface))) {
		fault(f, FAIL, "it has no iface=");
		mend(f, "\"device\": \"%.60s,iface=INTERFACE\" in the fabric file", d->name);
	} else if (!tree_exists(m->root, "/sys/class/net")) {
		return true;
	} else if (strchr(iface, '/') != NULL || !tree_exists(m->root, "/sys/class/net/%s", iface)) {
		fault(f, missing(m), "there is no interface %s here", iface);
		mend(f, "ip link show; where it is another machine's: --run ROLES with those of this one");
	} else if (!tree_number(m->root, &flags, "/sys/class/net/%s/flags", iface) || !(flags & FLAG_UP)) {
		fault(f, FAIL, "%s is down", iface);
		mend(f, "ip link set %s up", iface);
	} else if (tree_number(m->root, &mtu, "/sys/class/net/%s/mtu", iface) && mtu < p->mtu) {
		fault(f, mtu < MF_LINK_MTU_MIN ? FAIL : WARN, "%s has an MTU of %jd, the port one of %u%s",
		      iface, (intmax_t)mtu, p->mtu, mtu < MF_LINK_MTU_MIN ? "" : ": frames are that short");
		mend(f, "ip link set %s mtu %u", iface, p->mtu);
	} else {
		return true;
	}
	return false;
}

static bool look_at_rights(const struct machine *m, unsigned int capability, const char *name,
			   struct device_fault *f)
{
	if (machine_can(m, capability) || !m->capabilities_known)
		return true;
	fault(f, FAIL, "this process has no CAP_%s", name);
	mend(f, "sudo, or setcap cap_%s+ep $(which memfab-emu)",
	     capability == CAP_NET_RAW ? "net_raw" : "net_admin");
	return false;
}

/** Its frames have to have room for ours. */
static void look_at_af_packet(const struct machine *m, const struct mf_config_port *p, const struct device *d,
			      struct device_fault *f)
{
	long capacity = AF_PACKET_FRAME;
	unsigned int needed = p->mtu + ETHER_HEAD + AF_PACKET_HEAD, frame = AF_PACKET_FRAME;
	char text[16];

	if (!look_at_interface(m, p, d, f) || !look_at_rights(m, CAP_NET_RAW, "NET_RAW", f))
		return;
	if (device_arg(d, "framesz", text, sizeof(text)))
		capacity = strtol(text, NULL, 10);
	if (capacity >= (long)needed)
		return;
	while (frame < needed)
		frame *= 2;
	fault(f, FAIL, "frames of an MTU of %u do not fit in framesz=%ld", p->mtu, capacity);
	mend(f, "\"device\": \"%.60s,...,framesz=%u,blocksz=%u\" in the fabric file", d->name, frame,
	     2 * frame);
}

static void look_at_af_xdp(const struct machine *m, const struct mf_config_port *p, const struct device *d,
			   struct device_fault *f)
{
	if (look_at_interface(m, p, d, f) && look_at_rights(m, CAP_NET_ADMIN, "NET_ADMIN", f))
		look_at_rights(m, CAP_NET_RAW, "NET_RAW", f);
}

static void look_at_tap(const struct machine *m, const struct mf_config_port *p, const struct device *d,
			struct device_fault *f)
{
	(void)p;
	(void)d;
	if (!look_at_rights(m, CAP_NET_ADMIN, "NET_ADMIN", f))
		return;
	if (tree_usable(m->root, "/dev/net/tun") || !tree_exists(m->root, "/dev"))
		return;
	fault(f, FAIL, "/dev/net/tun cannot be opened");
	mend(f, "modprobe tun (in a container: --device /dev/net/tun)");
}

/** Its socket, judged as `memfab-emu --check` does. */
static void look_at_memif(const struct machine *m, const struct mf_config_port *p, const struct device *d,
			  struct device_fault *f)
{
	char path[TREE_PATH], why[sizeof(f->what)];
	int rc = mf_port_check(p, m->root, why, sizeof(why));
	bool exists;

	if (rc == 0)
		return;
	fault(f, FAIL, "%s", why);
	if (!device_arg(d, "socket", path, sizeof(path)))
		snprintf(path, sizeof(path), "/run/memif.sock");
	exists = tree_exists(m->root, "%s", path);
	if (rc == -ENOENT)
		mend(f, "mkdir -p %s", dirname(path));
	else if (rc == -EACCES || rc == -EPERM)
		mend(f, "chown $USER %s", exists ? path : dirname(path));
	else
		mend(f, "another socket= in the fabric file");
}

/* PCI */

static const struct nic *nic_at(const struct machine *m, const char *address)
{
	for (unsigned int i = 0; i < m->nics; i++)
		if (strcmp(m->nic[i].address, address) == 0 || (strncmp(m->nic[i].address, "0000:", 5) == 0 &&
								strcmp(m->nic[i].address + 5, address) == 0))
			return &m->nic[i];
	return NULL;
}

static bool has_huge_pages(const struct machine *m)
{
	char *text = tree_read(m->root, "/proc/meminfo");
	const char *free_pages = text != NULL ? tree_key(text, "HugePages_Free:") : NULL;
	bool some = text == NULL || (free_pages != NULL && strtol(free_pages, NULL, 10) > 0);

	free(text);
	return some;
}

static void look_at_pci(const struct machine *m, const struct device *d, struct device_fault *f)
{
	const struct nic *nic = nic_at(m, d->name);

	if (nic == NULL) {
		fault(f, missing(m), "there is no such network device here");
		mend(f, "dpdk-devbind.py --status-dev net; where it is another machine's: --run ROLES with "
			"those of this one");
	} else if (nic->owner == NIC_LINUX) {
		fault(f, FAIL, "%s has it%s", nic->driver[0] != '\0' ? nic->driver : "no driver",
		      nic->up ? ", and it is up: whoever is logged in by it will not be any more" : "");
		mend(f, "modprobe vfio-pci && dpdk-devbind.py %s-b vfio-pci %s", nic->up ? "--force " : "",
		     nic->address);
	} else if (!has_huge_pages(m)) {
		fault(f, FAIL, "no huge pages are free for its buffers");
		mend(f, "echo 1024 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
	} else {
		snprintf(f->what, sizeof(f->what), "by %s", nic->driver);
	}
}

enum level device_look(const struct machine *m, const struct mf_config_port *p, const struct device *d,
		       struct device_fault *out)
{
	static const struct {
		const char *driver;
		void (*look)(const struct machine *m, const struct mf_config_port *p, const struct device *d,
			     struct device_fault *f);
	} known[] = {
		{"net_af_packet", look_at_af_packet},
		{"net_af_xdp", look_at_af_xdp},
		{"net_memif", look_at_memif},
		{"net_tap", look_at_tap},
	};

	if (d->driver[0] == '\0') {
		look_at_pci(m, d, out);
		return out->level;
	}
	if (strncmp(d->driver, "net_", 4) == 0 && !has_driver(m, d->driver)) {
		say_missing_driver(d, out);
		return out->level;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].driver, d->driver) == 0)
			known[i].look(m, p, d, out);
	return out->level;
}
