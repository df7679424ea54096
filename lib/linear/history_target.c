/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/mf_unit.h"
#include "linear/mf_history.h"

#define ROOM "room="
#define ROOM_DEFAULT (UINT64_C(256) << 20)
#define ROOM_MIN (UINT64_C(64) << 10)
#define ROOM_MAX (UINT64_C(1) << 40)

int mf_history_target(const char *text, struct mf_history_target *out, char *err, size_t errlen)
{
	size_t len = strcspn(text, ",");

	*out = (struct mf_history_target){.capacity = ROOM_DEFAULT};
	err[0] = '\0';
	if (len == 0 || len >= sizeof(out->name))
		snprintf(err, errlen, "no name of a file, or too long a name");
	else
		memcpy(out->name, text, len);
	if (err[0] != '\0' || text[len] == '\0')
		return err[0] != '\0' ? -EINVAL : 0;
	text += len + 1;
	if (strncmp(text, ROOM, strlen(ROOM)) != 0)
		snprintf(err, errlen, "'%s' is not room=SIZE", text);
	else if (mf_unit_size(text + strlen(ROOM), &out->capacity) != 0 || out->capacity < ROOM_MIN ||
		 out->capacity > ROOM_MAX)
		snprintf(err, errlen, "room is 64KiB to 1TiB, not '%s'", text + strlen(ROOM));
	return err[0] != '\0' ? -EINVAL : 0;
}
