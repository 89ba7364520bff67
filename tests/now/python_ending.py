# SPDX-License-Identifier: ISC
# The program has come to its end, but for threads that it waits for; one of them locks what a child has (python_locks.py says how
# this is read).
#
# see thread 'MainThread' → joins → thread 'worker'
# see thread 'MainThread' → joins → thread 'locker'
# see thread 'worker' → waits for → threading.Event never
# see thread 'locker' → locks → multiprocessing.Lock shared
# state threading.Event never; not set
# cycles 0
import multiprocessing
import threading

never, shared = threading.Event(), multiprocessing.Lock()


def lock():
    with shared:  # at thread 'locker'
        pass


shared.acquire()
threading.Thread(target=never.wait, name="worker").start()
threading.Thread(target=lock, name="locker").start()
threading.Thread(target=never.wait, name="helper", daemon=True)
print("ready", flush=True)
