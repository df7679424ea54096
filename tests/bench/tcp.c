/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "tcp.h"

#define TRIES 100
#define FIRST 30000 /* below those that the kernel gives to clients */
#define PORTS 2500

unsigned int tcp_port(void)
{
	static unsigned int n;

	return FIRST + ((unsigned int)getpid() * 16 + n++) % PORTS;
}

int tcp_connect(unsigned int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd, on = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (unsigned int i = 0; i < TRIES; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			return fd;
		}
		close(fd);
		usleep(20000); /* until it listens */
	}
	return -ECONNREFUSED;
}
