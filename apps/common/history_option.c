/* SPDX-License-Identifier: BSD-3-Clause */
#include "history_option.h"

#include <errno.h>
#include <string.h>

#include "argument.h"
#include "mf_unit.h"

#define ROOM "room="
#define ROOM_DEFAULT (UINT64_C(256) << 20)
#define ROOM_MIN (UINT64_C(64) << 10)
#define ROOM_MAX (UINT64_C(1) << 40)

int history_option_read(const char *option, const char *arg, struct history_option *h, char *err,
			size_t errlen)
{
	size_t len = strcspn(arg, ",");

	*h = (struct history_option){.room = ROOM_DEFAULT};
	if (len == 0 || len >= sizeof(h->name))
		return argument_refuse(err, errlen, "%s: no name of a file, or too long a name", option);
	memcpy(h->name, arg, len);
	if (arg[len] == '\0')
		return 0;
	arg += len + 1;
	if (strncmp(arg, ROOM, strlen(ROOM)) != 0)
		return argument_refuse(err, errlen, "%s: '%s' is not room=SIZE", option, arg);
	if (mf_unit_size(arg + strlen(ROOM), &h->room) != 0 || h->room < ROOM_MIN || h->room > ROOM_MAX)
		return argument_refuse(err, errlen, "%s: room is 64KiB to 1TiB, not '%s'", option,
				       arg + strlen(ROOM));
	return 0;
}
