/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to servers that are measured beside memfab, over the loopback interface. */
#ifndef TCP_H
#define TCP_H

#include <sys/socket.h>

/** A port for a server of this process: another one each time. */
unsigned int tcp_port(void);
/** Waits until the server listens, two seconds at most. @return a descriptor, or -errno */
int tcp_connect(unsigned int port);

#endif
