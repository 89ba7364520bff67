# SPDX-License-Identifier: ISC
# Threads that wait, two of them for each other (python_locks.py says how this is read).
#
# see thread 'MainThread' → joins → thread 'one'
# see thread 'one' → locks → threading.Lock bank.lock
# see threading.Lock bank.lock → is held by → thread 'two'
# see thread 'two' → locks → threading.Lock log_lock
# see threading.Lock log_lock → is held by → thread 'one'
# see thread 'again' → locks → threading.RLock again_lock
# see threading.RLock again_lock → is held by → thread 'owner'
# see thread 'owner' → waits for → threading.Event never
# see thread 'consumer' → gets from → queue.Queue jobs
# see thread 'simple' → gets from → queue.SimpleQueue simple_jobs
# see thread 'changed' → waits for → threading.Condition condition
# see thread 'first' → waits for → threading.Barrier gate
# state threading.Barrier gate; 1 of 3 have come
# see thread 'limited' → locks → threading.Semaphore limit
# see thread 'asks' → awaits → concurrent.futures.Future at 0x
# see concurrent.futures.Future at 0x → is computed by → thread 'pool_0'
# see thread 'pool_0' → waits for → threading.Event never
# state queue.Queue jobs; empty
# state threading.Event never; not set
# state threading.Semaphore limit; value 0
# cycles 1
import concurrent.futures
import queue
import threading


class Bank:
    def __init__(self):
        self.lock = threading.Lock()


log_lock, again_lock, bank = threading.Lock(), threading.RLock(), Bank()
both, gate, owned = threading.Barrier(2), threading.Barrier(3), threading.Event()
never, condition, limit = threading.Event(), threading.Condition(), threading.Semaphore(0)
jobs, simple_jobs = queue.Queue(), queue.SimpleQueue()


def one():
    with log_lock:
        both.wait()
        with bank.lock:  # at thread 'one'
            pass


def two():
    with bank.lock:
        with limited_before:
            pass
        both.wait()
        log_lock.acquire()  # at thread 'two'


def owner():
    again_lock.acquire()
    owned.set()
    never.wait()


def again():
    owned.wait()
    with again_lock:
        pass


def changed():
    with condition:
        condition.wait()  # at thread 'changed'


def limited():
    with limit:
        pass


def asks():
    concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="pool").submit(never.wait).result()


limited_before = threading.Lock()
threads = [threading.Thread(target=target, name=name) for name, target in {
    "one": one, "two": two, "owner": owner, "again": again, "consumer": jobs.get, "simple": lambda: simple_jobs.get(),
    "changed": changed, "limited": limited, "asks": asks, "first": gate.wait}.items()]
for thread in threads:
    thread.start()
print("ready", flush=True)
threads[0].join()
