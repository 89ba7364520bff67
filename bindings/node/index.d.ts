// SPDX-License-Identifier: ISC

/** Whether a recording is running. Otherwise nothing below has any effect. */
export const recording: boolean;

/** Says what a promise does now, beside its name: that one, or else the call of an async function that runs. */
export function label(text: string, promise?: Promise<unknown>): void;

/** Declares that it is an error if that promise, or else the running call, is never resolved. */
export function mark(promise?: Promise<unknown>): void;

/**
 * That promise, or else the running call, handles a request that came with this value of the header traceparent (W3C's Trace
 * Context, OpenTelemetry); sent: it sends one with it. A value that is not valid is ignored.
 */
export function traceparent(header: string, promise?: Promise<unknown>, options?: { sent?: boolean }): void;

/**
 * What was recorded last is worth keeping, and why: weft watch and weft record --keep keep a copy, if they wait for that (the
 * condition "call"). Nobody waits for them here.
 */
export function snapshot(reason: string): void;

/**
 * Runs work at once, as one request of that name, which must be resolved: whatever is done for it hangs under it.
 * Ends as work does, with a recording and without.
 */
export function request<T>(text: string, work: () => T | PromiseLike<T>): Promise<T>;

/**
 * What is acquired and given back: a lock, the connections of a pool. Each call is for one of it, and means that promise, or
 * else the call of an async function that runs: say it in the function that has it, not in one that has ended by then.
 */
export interface Resource {
  /** Has one of it from now on. */
  acquire(promise?: Promise<unknown>): void;
  /** Gives it back. */
  release(promise?: Promise<unknown>): void;
  /** Waits until there is one. */
  wait(promise?: Promise<unknown>): void;
}

/** The resource of that name; there is one for each name. */
export function resource(name: string): Resource;

export interface Counter {
  /** Adds to the counter; 1 by default. */
  add(amount?: number): void;
  set(value: number): void;
}

/** A number that is drawn over time. Only whole numbers are kept. */
export function counter(name: string): Counter;
