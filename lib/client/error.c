/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fabric says of an operation, as numbers of errno.h and in words. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "client/client.h"

int error_of(uint8_t status)
{
	static const int error[MF_STATUSES] = {
		[MF_ERR_RANGE] = -ERANGE,      [MF_ERR_ALIGN] = -EFAULT,
		[MF_ERR_OPCODE] = -EOPNOTSUPP, [MF_ERR_RESOURCE] = -ENOBUFS,
		[MF_ERR_TIMEOUT] = -ETIMEDOUT, [MF_ERR_UNKNOWN] = -EINPROGRESS,
		[MF_ERR_KEY] = -EACCES,        [MF_ERR_RESTARTED] = -EHOSTDOWN,
	};

	if (status == MF_OK)
		return 0;
	return status < MF_STATUSES && error[status] != 0 ? error[status] : -EINPROGRESS;
}

const char *memfab_strerror(int error)
{
	switch (error == INT_MIN ? INT_MAX : abs(error)) { /* -INT_MIN is no number */
	case 0:
		return "success";
	case EPERM:
		return "the lock is not this queue's, or the fabric not this process'";
	case EINVAL:
		return "bad argument";
	case EAGAIN:
		return "no slot is free";
	case ERANGE:
		return "outside the target's memory";
	case EFAULT:
		return "an atomic's address is no multiple of 8";
	case EOPNOTSUPP:
		return "unknown operation";
	case EACCES:
		return "the target does not let this node in";
	case ENOBUFS:
		return "the target has no room now";
	case ETIMEDOUT:
		return "no answer within its time";
	case EINPROGRESS:
		return "outcome unknown: it has happened once or not at all";
	case ECANCELED:
		return "not begun, since the operation before it failed";
	case EHOSTDOWN:
		return "the target has lost its memory";
	case EBUSY:
		return "something else uses it";
	case ENOENT:
		return "there is no such thing";
	case EDEADLK:
		return "this queue has the lock already";
	case ENOMEM:
		return "no memory";
	default:
		return "unknown error";
	}
}
