/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/mf_tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/mf_config_query.h"

/** Frames of captures are of no connection: the tag is always this. */
#define EPOCH 0x6d666361
#define BUFFER (1 << 20) /* octets of a file */

static const struct capture_format *const formats[] = {&capture_pcap, &capture_pcapng};

static const struct capture_format *format_of(const char *file)
{
	size_t len = strlen(file);

	for (unsigned int i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		size_t suffix = strlen(formats[i]->suffix);

		if (len > suffix && strcmp(file + len - suffix, formats[i]->suffix) == 0)
			return formats[i];
	}
	return NULL;
}

int capture_file_error(struct capture_file *f)
{
	if (f->error == 0 && ferror(f->out))
		f->error = errno != 0 ? -errno : -EIO;
	return f->error;
}

/** @param link  number of a node; greater numbers are links between switches or between nodes */
static bool wanted(const struct mf_config *config, const struct mf_capture_request *r, unsigned int link,
		   bool down)
{
	unsigned int nodes = config->slots;

	if (!(down ? r->down : r->up))
		return false;
	return link < nodes ? r->link[link] : r->trunk != NULL && r->trunk[link - nodes];
}

static void name_interface(const struct mf_config *config, unsigned int link, bool down,
			   struct capture_interface *out)
{
	const struct mf_config_trunk *t = &config->trunk[link - config->slots];
	unsigned int number;
	const char *a, *b;

	if (link < config->slots) {
		snprintf(out->name, sizeof(out->name), "%s %s", config->node[link].name,
			 down ? "down" : "up");
		return;
	}
	number = mf_config_parallel(config, link - config->slots);
	a = mf_config_trunk_end(config, t, down);
	b = mf_config_trunk_end(config, t, !down);
	if (number == 0)
		snprintf(out->name, sizeof(out->name), "%s to %s", a, b);
	else
		snprintf(out->name, sizeof(out->name), "%s to %s, %u", a, b, number);
}

/** The taps of a file, each of which is an interface of it. */
static int make_interfaces(struct mf_captures *c, unsigned int i, const struct mf_config *config,
			   const struct mf_capture_request *r)
{
	struct capture_file *f = &c->file[i];

	f->interface = calloc(2 * (size_t)c->links, sizeof(*f->interface));
	c->interface[i] = calloc(2 * (size_t)c->links, sizeof(*c->interface[i]));
	if (f->interface == NULL || c->interface[i] == NULL)
		return -ENOMEM;
	for (unsigned int link = 0; link < c->links; link++)
		for (unsigned int down = 0; down < 2; down++) {
			unsigned int tap = down * c->links + link;

			if (!wanted(config, r, link, down))
				continue;
			c->tap[tap].files |= 1U << i;
			c->interface[i][tap] = (uint16_t)f->interfaces;
			name_interface(config, link, down, &f->interface[f->interfaces++]);
		}
	return 0;
}

static int open_file(struct mf_captures *c, const struct mf_config *config,
		     const struct mf_capture_request *r)
{
	unsigned int i = c->files++;
	struct capture_file *f = &c->file[i];
	int rc;

	snprintf(c->name[i], sizeof(c->name[i]), "%s", r->file);
	f->format = format_of(r->file);
	if (f->format == NULL)
		return -EINVAL;
	rc = mf_output_open(&f->output, r->file);
	if (rc != 0)
		return rc;
	f->out = f->output.file;
	setvbuf(f->out, NULL, _IOFBF, BUFFER);
	rc = make_interfaces(c, i, config, r);
	if (rc == 0)
		rc = f->format->begin(f);
	if (rc != 0) {
		f->output.file = f->out;
		mf_output_close(&f->output, rc);
		f->out = NULL;
	}
	return rc;
}

struct mf_captures *mf_captures_open(const struct mf_config *config, const struct mf_capture_request *request,
				     unsigned int n, char *err, size_t errlen)
{
	struct mf_captures *c = aligned_alloc(64, (sizeof(*c) + 63) / 64 * 64);
	int rc = 0;

	if (c != NULL)
		*c = (struct mf_captures){.links = config->slots + config->trunks};
	if (c == NULL || (c->tap = calloc(2 * (size_t)c->links, sizeof(*c->tap))) == NULL) {
		snprintf(err, errlen, "captures: no memory");
		free(c);
		return NULL;
	}
	for (unsigned int i = 0; i < 2 * c->links; i++)
		c->tap[i] = (struct capture_tap){
			.captures = c, .link = (uint16_t)(i % c->links), .down = i >= c->links};
	for (unsigned int i = 0; i < n && rc == 0; i++) {
		rc = open_file(c, config, &request[i]);
		if (rc != 0)
			snprintf(err, errlen, "%s: %s", request[i].file,
				 rc == -EINVAL ? "captures are files named .pcap or .pcapng" : strerror(-rc));
	}
	if (rc == 0)
		return c;
	mf_captures_close(c, false, (char[1]){0}, 1);
	return NULL;
}

static int close_file(struct mf_captures *c, struct capture_file *f, bool ran)
{
	int rc;

	if (f->out == NULL)
		return 0;
	rc = f->format->close(f, c->last);
	f->output.file = f->out;
	if (rc != 0 || ran || f->frames > 0)
		return mf_output_close(&f->output, rc);
	mf_output_close(&f->output, -ECANCELED);
	return 0;
}

int mf_captures_close(struct mf_captures *c, bool ran, char *err, size_t errlen)
{
	int rc = 0, e;

	if (c == NULL)
		return 0;
	for (unsigned int i = 0; i < c->files; i++) {
		e = close_file(c, &c->file[i], ran);
		if (e != 0 && rc == 0) {
			rc = e;
			snprintf(err, errlen, "%s: %s", c->name[i], strerror(-rc));
		}
		free(c->file[i].interface);
		free(c->interface[i]);
	}
	capture_sort_fini(c);
	free(c->tap);
	free(c);
	return rc;
}

struct capture_tap *capture_tap(struct mf_captures *c, unsigned int link, bool down)
{
	struct capture_tap *tap = c != NULL ? &c->tap[(down ? c->links : 0) + link] : NULL;

	return tap != NULL && tap->files != 0 ? tap : NULL;
}

/** Locally administered: of the link, and of the end. */
static void mac_of(const struct capture_tap *tap, bool of_switch, uint8_t mac[MF_LINK_MAC])
{
	const uint8_t octets[MF_LINK_MAC] = {
		0x02, 'm', 'f', of_switch, (uint8_t)(tap->link >> 8), (uint8_t)tap->link};

	memcpy(mac, octets, sizeof(octets));
}

uint16_t capture_frame(struct mf_captures *c, const struct capture_tap *tap, uint32_t seq,
		       const struct mf_span *span)
{
	struct mf_link_head head = {
		.version = MF_LINK_VERSION,
		.link = tap->link,
		.flags = tap->down ? MF_LINK_FROM_SWITCH : 0,
		.epoch = EPOCH,
		.seq = seq,
	};

	mac_of(tap, tap->down, head.src);
	mac_of(tap, !tap->down, head.dst);
	mf_link_head_ethertype(&head, MF_LINK_ETHERTYPE);
	return mf_link_frame_put(c->frame, &head, span);
}

void capture_write(struct mf_captures *c, const struct capture_tap *tap, mf_time at, const uint8_t *frame,
		   uint16_t len)
{
	uint64_t ns = c->origin + at / 1000;

	for (uint32_t set = tap->files; set != 0; set &= set - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(set);
		struct capture_file *f = &c->file[i];
		unsigned int n = c->interface[i][tap - c->tap];

		if (f->error != 0)
			continue;
		f->format->put(f, n, ns, frame, len);
		capture_file_error(f);
		f->interface[n].frames++;
		f->frames++;
		f->octets += len;
	}
	c->last = ns > c->last ? ns : c->last;
}

void capture_end(struct mf_captures *c)
{
	for (unsigned int i = 0; i < c->files; i++) {
		struct capture_file *f = &c->file[i];

		f->dropped = 0;
		for (unsigned int t = 0; t < 2 * c->links; t++) {
			if (!(c->tap[t].files & 1U << i))
				continue;
			f->interface[c->interface[i][t]].dropped = c->tap[t].dropped;
			f->dropped += c->tap[t].dropped;
		}
	}
}

json_t *capture_json(const struct mf_captures *c)
{
	json_t *all = json_array();

	for (unsigned int i = 0; i < c->files; i++) {
		const struct capture_file *f = &c->file[i];

		json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:I}", "file", c->name[i], "frames",
						     (json_int_t)f->frames, "octets", (json_int_t)f->octets,
						     "dropped", (json_int_t)f->dropped));
	}
	return all;
}
