/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out. A program that is linked with this has its requests for memory counted, and one of
 * them may fail: malloc(), calloc(), realloc(), aligned_alloc(), mmap().
 */
#ifndef SHORTAGE_H
#define SHORTAGE_H

/**
 * Calls once() again and again. In the first call the first request for memory fails, in the second call the
 * second one, until none is left that could. Each call has to give back all that it took, and has to return
 * -ENOMEM where a request failed, else 0. It needs at least one.
 * @param once  makes what is tested, uses it, and gives it back
 */
void shortage_each(int (*once)(const void *of), const void *of);

/** Requests for memory so far: a test that none is made. */
unsigned long shortage_requests(void);

#endif
