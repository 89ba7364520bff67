/* SPDX-License-Identifier: ISC */
#pragma once

/* 0 or -1 with an exception. */
int uvloops_init(void);
