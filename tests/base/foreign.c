/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_foreign.h"

Test(foreign, known_by_its_first_octets)
{
	cr_assert_not_null(strstr(mf_foreign("\x1f\x8b\x08", 3), "gzip"));
	cr_assert_not_null(strstr(mf_foreign("\xef\xbb\xbf{", 4), "byte order mark"));
	cr_assert_not_null(strstr(mf_foreign("\xff\xfe{\0", 4), "UTF-16"));
	cr_assert_not_null(strstr(mf_foreign("\xfe\xff\0{", 4), "UTF-16"));
	cr_assert_not_null(strstr(mf_foreign("{\0\"\0", 4), "UTF-16"));
}

Test(foreign, not_beyond_what_there_is)
{
	cr_assert_null(mf_foreign("\x1f\x8b", 1));
	cr_assert_null(mf_foreign("\xef\xbb\xbf", 2));
	cr_assert_null(mf_foreign(NULL, 0));
	cr_assert_null(mf_foreign("{\"nodes\"", 8));
}
