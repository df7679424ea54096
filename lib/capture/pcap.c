/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap files with nanoseconds, by libpcap. Links and directions are told by the frames alone. */
#include <errno.h>

#include <pcap/pcap.h>

#include "capture/file.h"

#define NS 1000000000U

static int begin(struct capture_file *f)
{
	pcap_t *format =
		pcap_open_dead_with_tstamp_precision(DLT_EN10MB, CAPTURE_SNAP, PCAP_TSTAMP_PRECISION_NANO);

	if (format == NULL)
		return -ENOMEM;
	f->state = pcap_dump_fopen(format, f->out);
	pcap_close(format);
	if (f->state == NULL)
		f->out = NULL; /* it has closed the stream */
	return f->state != NULL ? 0 : -EIO;
}

static void put(struct capture_file *f, unsigned int interface, uint64_t ns, const uint8_t *frame,
		uint32_t len)
{
	struct pcap_pkthdr h = {.ts.tv_sec = (time_t)(ns / NS),
				.ts.tv_usec = (suseconds_t)(ns % NS),
				.caplen = len,
				.len = len};

	(void)interface;
	pcap_dump(f->state, &h, frame);
}

static int close_file(struct capture_file *f, uint64_t ns)
{
	(void)ns;
	(void)pcap_dump_flush(f->state);
	(void)capture_file_error(f);
	pcap_dump_close(f->state); /* and the stream */
	f->out = NULL;
	return f->error;
}

const struct capture_format capture_pcap = {
	.suffix = ".pcap", .begin = begin, .put = put, .close = close_file};
