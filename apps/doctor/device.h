/* SPDX-License-Identifier: BSD-3-Clause */
/* The device that a port of a fabric file names: what is known of its driver, and whether it would work. */
#ifndef DEVICE_H
#define DEVICE_H

#include "finding.h"
#include "machine.h"

/** "net_memif0,role=client,id=0" or "0000:3b:00.0" */
struct device {
	char name[64]; /**< without the arguments */
	char driver[64]; /**< net_memif; of a PCI address "" */
	const char *args; /**< behind the name, with the comma; "" */
};

struct device_fault {
	enum level level;
	char what[256]; /**< of PASS: what is worth to be said, or "" */
	char mend[256];
};

void device_read(const char *text, struct device *d);

/** The value of an argument. @return false: it is not there, and out is empty */
bool device_arg(const struct device *d, const char *key, char *out, size_t capacity);

/** @param out  all zero @return out->level */
enum level device_look(const struct machine *m, const struct mf_config_port *p, const struct device *d,
		       struct device_fault *out);

#endif
