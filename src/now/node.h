/* SPDX-License-Identifier: ISC */
/* What the files of the look at Node.js share. */
#pragma once

#include "base/idmap.h"
#include "now/v8.h"

struct node_list {
    uint64_t *object;
    uint32_t count, room;
};

/* What the parts share. */
struct node {
    struct now *n;
    struct v8 v;
    struct node_list pending;   /* promises */
    struct node_list suspended; /* async functions, whose promises are pending */
    struct v8_place *place;
    uint32_t places, places_room;
    struct weft_idmap *place_by_key;
};

/* The thing of a suspended async function or generator, which is added if it is not there yet. */
uint32_t node_task(struct node *d, uint64_t generator);

/* What is known of a function. Valid until the next call. */
const struct v8_place *node_place(struct node *d, uint64_t function, int32_t code_offset);

bool node_is_suspended(struct node *d, uint64_t generator);

/* Finds who can resolve the promises that no link leads out of. */
void node_resolvers(struct node *d);

/* Names the functions of JavaScript on the stacks of the threads that are there. */
void node_stacks(struct node *d);
