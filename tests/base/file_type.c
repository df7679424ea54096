/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_file_type.h"

Test(file_type, known_by_its_first_octets)
{
	cr_assert_not_null(strstr(mf_file_type("\x1f\x8b\x08", 3), "gzip"));
	cr_assert_not_null(strstr(mf_file_type("\xef\xbb\xbf{", 4), "byte order mark"));
	cr_assert_not_null(strstr(mf_file_type("\xff\xfe{\0", 4), "UTF-16"));
	cr_assert_not_null(strstr(mf_file_type("\xfe\xff\0{", 4), "UTF-16"));
	cr_assert_not_null(strstr(mf_file_type("{\0\"\0", 4), "UTF-16"));
}

Test(file_type, not_beyond_what_there_is)
{
	cr_assert_null(mf_file_type("\x1f\x8b", 1));
	cr_assert_null(mf_file_type("\xef\xbb\xbf", 2));
	cr_assert_null(mf_file_type(NULL, 0));
	cr_assert_null(mf_file_type("{\"nodes\"", 8));
}
