/* SPDX-License-Identifier: ISC */
/* For LD_PRELOAD: makes a program believe that it runs in a Xen guest. */
#include "../unit/fake_guest.h"
