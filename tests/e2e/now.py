#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""now.py GRAPH HANG CASE...: what is seen of programs that hang on purpose (../now/hang.c), compared with what is true.

Of a stack, the function that waits and its caller are compared; numbers and addresses have names here.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

# case: the system calls that its threads are in / that its child is in, and what must be seen. MAIN, OTHER: threads; CHILD: a
# process.
CASES = {
    "abba": (
        "futex futex",
        """
        MAIN waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < transfer
        OTHER waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < write_log
        mutex log_lock; cycle 1
        mutex account+0x28; cycle 1
        MAIN -> locks -> mutex log_lock
        OTHER -> locks -> mutex account+0x28
        mutex log_lock -> is held by -> OTHER
        mutex account+0x28 -> is held by -> MAIN
        """,
    ),
    "abba stopped": (
        "futex futex",
        """
        MAIN waits in pthread_mutex_lock, and STOPPED; cycle 1: pthread_mutex_lock < transfer
        OTHER waits in pthread_mutex_lock, and STOPPED; cycle 1: pthread_mutex_lock < write_log
        mutex log_lock; cycle 1
        mutex account+0x28; cycle 1
        MAIN -> locks -> mutex log_lock
        OTHER -> locks -> mutex account+0x28
        mutex log_lock -> is held by -> OTHER
        mutex account+0x28 -> is held by -> MAIN
        """,
    ),
    "interrupted": (
        "futex futex",
        """
        MAIN waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < transfer
        OTHER waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < write_log
        mutex log_lock; cycle 1
        mutex account+0x28; cycle 1
        MAIN -> locks -> mutex log_lock
        OTHER -> locks -> mutex account+0x28
        mutex log_lock -> is held by -> OTHER
        mutex account+0x28 -> is held by -> MAIN
        """,
    ),
    "patient": (
        "futex futex",
        """
        MAIN waits in pthread_mutex_clocklock, at most 4.17 d: pthread_mutex_clocklock < lock_soon
        OTHER waits in pthread_mutex_clocklock, at most 4.17 d: pthread_mutex_clocklock < lock_soon
        mutex log_lock
        mutex queue_lock
        MAIN -> locks -> mutex log_lock
        OTHER -> locks -> mutex queue_lock
        mutex log_lock -> is held by -> OTHER
        mutex queue_lock -> is held by -> MAIN
        """,
    ),
    "self": (
        "futex",
        """
        MAIN waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < lock_again
        mutex log_lock; cycle 1
        MAIN -> locks -> mutex log_lock
        mutex log_lock -> is held by -> MAIN
        """,
    ),
    "robust": (
        "futex",
        """
        MAIN waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < lock_again
        mutex at ADDRESS (heap); cycle 1
        MAIN -> locks -> mutex at ADDRESS (heap)
        mutex at ADDRESS (heap) -> is held by -> MAIN
        """,
    ),
    "inherit": (
        "futex",
        """
        MAIN waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < lock_again
        mutex at ADDRESS (on the stack of MAIN); cycle 1
        MAIN -> locks -> mutex at ADDRESS (on the stack of MAIN)
        mutex at ADDRESS (on the stack of MAIN) -> is held by -> MAIN
        """,
    ),
    "refused": (
        "futex futex",
        """
        MAIN waits in pthread_mutex_lock: pthread_mutex_lock < lock_first
        OTHER waits in pthread_mutex_lock: pthread_mutex_lock < lock_second
        a mutex with priority inheritance; the kernel refuses to lock it: that would be a deadlock, or its owner has ended
        mutex inherited
        MAIN -> locks -> a mutex with priority inheritance
        OTHER -> locks -> mutex inherited
        mutex inherited -> is held by -> MAIN
        """,
    ),
    "own_futex": (
        "futex",
        """
        MAIN waits in lock_own: lock_own < own_futex
        futex own_word
        MAIN -> waits for -> futex own_word
        """,
    ),
    "own_bitset": (
        "futex",
        """
        MAIN waits in wait_own: wait_own < own_bitset
        futex own_word
        MAIN -> waits for -> futex own_word
        """,
    ),
    "orphan": (
        "futex",
        """
        MAIN waits in pthread_mutex_lock: pthread_mutex_lock < orphan
        mutex log_lock; thread NUMBER, which has ended, did not unlock it
        MAIN -> locks -> mutex log_lock
        """,
    ),
    "join": (
        "futex futex",
        """
        MAIN waits in pthread_join: pthread_join < await_worker
        OTHER waits in pthread_cond_wait, with mutex queue_lock: pthread_cond_wait < take_work
        condition variable work; another thread must signal it
        MAIN -> joins -> OTHER
        OTHER -> waits for -> condition variable work
        """,
    ),
    "semaphore": (
        "futex",
        """
        MAIN waits in sem_wait: sem_wait < take_ticket
        semaphore tickets; its value is 0: another thread must post it
        MAIN -> waits for -> semaphore tickets
        """,
    ),
    "shared_semaphore": (
        "futex",
        """
        MAIN waits in sem_wait: sem_wait < take_ticket
        semaphore shared_tickets; its value is 0: another thread or process must post it
        MAIN -> waits for -> semaphore shared_tickets
        """,
    ),
    "rwlock": (
        "futex futex",
        """
        MAIN waits in pthread_join; cycle 1: pthread_join < await_reader
        OTHER waits in pthread_rwlock_rdlock; cycle 1: pthread_rwlock_rdlock < read_table
        read-write lock table; cycle 1
        MAIN -> joins -> OTHER
        OTHER -> locks -> read-write lock table
        read-write lock table -> is held by -> MAIN
        """,
    ),
    "readers": (
        "futex",
        """
        MAIN waits in pthread_rwlock_wrlock: pthread_rwlock_wrlock < write_table
        read-write lock table; 1 reader holds it: which threads these are is not recorded
        MAIN -> locks -> read-write lock table
        """,
    ),
    "barrier": (
        "futex",
        """
        MAIN waits in pthread_barrier_wait: pthread_barrier_wait < barrier
        barrier both; 1 of 3 threads have come
        MAIN -> waits for -> barrier both
        """,
    ),
    "stream": (
        "futex pause",
        """
        MAIN waits in fputs: fputs < stream
        OTHER waits in pause for a signal: pause < hold_stream
        lock of a FILE _IO_stdfile_2_lock
        MAIN -> locks -> lock of a FILE _IO_stdfile_2_lock
        lock of a FILE _IO_stdfile_2_lock -> is held by -> OTHER
        """,
    ),
    "child_pipe": (
        "read",
        """
        MAIN waits in read: read < child_pipe
        descriptor 3 (reading end of a pipe)
        CHILD 'writer'; waits in pause
        MAIN -> reads -> descriptor 3 (reading end of a pipe)
        descriptor 3 (reading end of a pipe) -> has its other end in -> CHILD 'writer'
        """,
    ),
    "two_pipes": (
        "read / read",
        """
        MAIN waits in read; cycle 1: read < two_pipes
        descriptor 3 (reading end of a pipe); cycle 1
        CHILD 'other'; waits in read, descriptor 5 (a pipe that process PID has open, too); cycle 1
        MAIN -> reads -> descriptor 3 (reading end of a pipe)
        descriptor 3 (reading end of a pipe) -> has its other end in -> CHILD 'other'
        CHILD 'other' -> waits for -> MAIN
        """,
    ),
    "two_ends": (
        "recvfrom / recvfrom",
        """
        MAIN waits in recv; cycle 1: recv < two_ends
        descriptor 3 (UNIX socket); cycle 1
        CHILD 'other'; waits in recvfrom, descriptor 4 (a socket, of which process PID has the other end); cycle 1
        MAIN -> receives from -> descriptor 3 (UNIX socket)
        descriptor 3 (UNIX socket) -> has its other end in -> CHILD 'other'
        CHILD 'other' -> waits for -> MAIN
        """,
    ),
    "own_pipe": (
        "read",
        """
        MAIN waits in read: read < own_pipe
        descriptor 3 (reading end of a pipe); only this process itself has its writing end
        MAIN -> reads -> descriptor 3 (reading end of a pipe)
        """,
    ),
    "await_child": (
        "wait4",
        """
        MAIN waits in wait4: wait4 < await_child
        CHILD 'worker'; waits in pause
        MAIN -> waits for the end of -> CHILD 'worker'
        """,
    ),
    "epoll": (
        "epoll_wait",
        """
        MAIN waits in epoll_wait for any of 4 descriptors: epoll_wait < serve
        descriptor 3 (TCP socket 127.0.0.1:PORT, listening)
        descriptor 5 (timer); expires in 4.17 d
        descriptor 6 (eventfd); its count is 0
        descriptor 7 (TCP socket 127.0.0.1:PORT, connected to 127.0.0.1:CLIENT)
        CHILD 'client'; waits in pause
        MAIN ~> waits to read ~> descriptor 3 (TCP socket 127.0.0.1:PORT, listening)
        MAIN ~> waits to read ~> descriptor 5 (timer)
        MAIN ~> waits to read ~> descriptor 6 (eventfd)
        MAIN ~> waits to read ~> descriptor 7 (TCP socket 127.0.0.1:PORT, connected to 127.0.0.1:CLIENT)
        descriptor 7 (TCP socket 127.0.0.1:PORT, connected to 127.0.0.1:CLIENT) -> has its other end in -> CHILD 'client'
        """,
    ),
    "inner_epoll": (
        "epoll_wait",
        """
        MAIN waits in epoll_wait for one descriptor: epoll_wait < serve
        descriptor 4 (epoll)
        descriptor 5 (signals: SIGINT, SIGUSR1)
        MAIN ~> waits to read ~> descriptor 4 (epoll)
        descriptor 4 (epoll) ~> waits to read ~> descriptor 5 (signals: SIGINT, SIGUSR1)
        """,
    ),
    "unix_peer": (
        "recvfrom",
        """
        MAIN waits in recv: recv < unix_peer
        descriptor 3 (UNIX socket)
        CHILD 'peer'; waits in pause
        MAIN -> receives from -> descriptor 3 (UNIX socket)
        descriptor 3 (UNIX socket) -> has its other end in -> CHILD 'peer'
        """,
    ),
    "poll_two": (
        "poll",
        """
        MAIN waits in poll for any of 2 descriptors: poll < poll_two
        descriptor 0 (reading end of a pipe)
        descriptor 3 (reading end of a pipe); only this process itself has its writing end
        LOOKER 'python3'
        MAIN ~> waits to read ~> descriptor 0 (reading end of a pipe)
        MAIN ~> waits to read ~> descriptor 3 (reading end of a pipe)
        descriptor 0 (reading end of a pipe) -> has its other end in -> LOOKER 'python3'
        """,
    ),
    "select_two": (
        "pselect6",
        """
        MAIN waits in select for any of 2 descriptors: select < select_two
        descriptor 0 (reading end of a pipe)
        descriptor 3 (reading end of a pipe); only this process itself has its writing end
        LOOKER 'python3'
        MAIN ~> waits to read ~> descriptor 0 (reading end of a pipe)
        MAIN ~> waits to read ~> descriptor 3 (reading end of a pipe)
        descriptor 0 (reading end of a pipe) -> has its other end in -> LOOKER 'python3'
        """,
    ),
    "file_lock": (
        "flock",
        """
        MAIN waits in flock: flock < file_lock
        descriptor 3 (FILE (deleted))
        CHILD 'holder'; waits in pause
        MAIN -> locks -> descriptor 3 (FILE (deleted))
        descriptor 3 (FILE (deleted)) -> is locked by -> CHILD 'holder'
        """,
    ),
    "own_file_lock": (
        "flock",
        """
        MAIN waits in flock: flock < own_file_lock
        descriptor 3 (FILE (deleted)); is locked by this process itself, through another descriptor
        MAIN -> locks -> descriptor 3 (FILE (deleted))
        """,
    ),
    "record_lock": (
        "fcntl",
        """
        MAIN waits in fcntl: fcntl < record_lock
        descriptor 3 (FILE (deleted))
        CHILD 'holder'; waits in pause
        MAIN -> locks -> descriptor 3 (FILE (deleted))
        descriptor 3 (FILE (deleted)) -> is locked by -> CHILD 'holder'
        """,
    ),
    "two_files": (
        "flock / flock",
        """
        MAIN waits in flock; cycle 1: flock < two_files
        descriptor 6 (FILE (deleted)); cycle 1
        CHILD 'other'; waits in flock, descriptor 5 (FILE (deleted)); cycle 1
        MAIN -> locks -> descriptor 6 (FILE (deleted))
        descriptor 6 (FILE (deleted)) -> is locked by -> CHILD 'other'
        CHILD 'other' -> waits for -> MAIN
        """,
    ),
    "two_semaphores": (
        "semtimedop / semtimedop",
        """
        MAIN waits in semtimedop: semtimedop < two_semaphores
        semaphore 1 of set SET (ipcs -s); its value is 0
        CHILD 'other'; waits in semtimedop
        semaphore 0 of set SET (ipcs -s); its value is 0
        MAIN -> waits for -> semaphore 1 of set SET (ipcs -s)
        semaphore 1 of set SET (ipcs -s) ~> was last changed by ~> CHILD 'other'
        CHILD 'other' -> waits for -> semaphore 0 of set SET (ipcs -s)
        semaphore 0 of set SET (ipcs -s) ~> was last changed by ~> MAIN
        """,
    ),
    "two_mutexes": (
        "futex / futex",
        """
        MAIN waits in pthread_mutex_lock; cycle 1: pthread_mutex_lock < two_mutexes
        mutex at ADDRESS (shared memory); cycle 1
        CHILD 'other'; waits in futex; cycle 1
        MAIN -> locks -> mutex at ADDRESS (shared memory)
        mutex at ADDRESS (shared memory) -> is held by -> CHILD 'other'
        CHILD 'other' -> waits for -> MAIN
        """,
    ),
    "full_pipe": (
        "wait4 / write",
        """
        MAIN waits in wait4; cycle 1: wait4 < full_pipe
        CHILD 'other'; waits in write, descriptor 4 (a pipe that process PID has open, too); cycle 1
        MAIN -> waits for the end of -> CHILD 'other'
        CHILD 'other' -> waits for -> MAIN
        """,
    ),
    "shared_mutex": (
        "futex",
        """
        MAIN waits in pthread_mutex_lock: pthread_mutex_lock < await_holder
        mutex at ADDRESS (shared memory)
        CHILD 'holder'; waits in pause
        MAIN -> locks -> mutex at ADDRESS (shared memory)
        mutex at ADDRESS (shared memory) -> is held by -> CHILD 'holder'
        """,
    ),
    "shared_robust": (
        "futex",
        """
        MAIN waits in pthread_mutex_lock: pthread_mutex_lock < await_holder
        mutex at ADDRESS (shared memory)
        CHILD 'holder'; waits in pause
        MAIN -> locks -> mutex at ADDRESS (shared memory)
        mutex at ADDRESS (shared memory) -> is held by -> CHILD 'holder'
        """,
    ),
    "accept_one": (
        "accept",
        """
        MAIN waits in accept: accept < accept_one
        descriptor 3 (TCP socket 127.0.0.1:PORT, listening)
        MAIN -> accepts connections on -> descriptor 3 (TCP socket 127.0.0.1:PORT, listening)
        """,
    ),
    "read_timer": (
        "read",
        """
        MAIN waits in read: read < read_timer
        descriptor 3 (timer); is not set, or has expired
        MAIN -> reads -> descriptor 3 (timer)
        """,
    ),
    "open_fifo": (
        "openat",
        """
        MAIN waits in open until somebody opens FIFO 'FIFO' to write: open < open_fifo
        """,
    ),
    "start_child": (
        "vfork",
        """
        MAIN waits in vfork until its child ends or executes a program: vfork
        process NUMBER 'newborn'; waits in pause
        MAIN -> waits for -> process NUMBER 'newborn'
        """,
    ),
    "any_child": (
        "wait4",
        """
        MAIN waits in wait4: wait4 < any_child
        process NUMBER 'worker'; waits in pause
        process NUMBER 'worker'; waits in pause
        MAIN ~> waits for the end of ~> process NUMBER 'worker'
        MAIN ~> waits for the end of ~> process NUMBER 'worker'
        """,
    ),
    "go": (
        "pause",
        """
        MAIN waits in pause for a signal: pause < runtime.schedule
        remark This is a Go program: its goroutines are not shown, only its threads; kill -QUIT makes it print them, and ends it
        """,
    ),
    "nap": (
        "pselect6",
        """
        MAIN sleeps in select, at most TIME: select < nap
        """,
    ),
    "await_signal": (
        "rt_sigtimedwait",
        """
        MAIN waits in sigtimedwait for SIGUSR1: sigtimedwait < await_signal
        """,
    ),
    "sleeps": (
        "clock_nanosleep",
        """
        MAIN sleeps, 4.17 d more: clock_nanosleep < sleeps
        """,
    ),
    "busy": (
        "",
        """
        MAIN runs: spin < busy
        """,
    ),
    "headless": (
        "pause",
        """
        MAIN has ended
        OTHER waits in pause for a signal: pause < nothing_to_do
        """,
    ),
}
# Machines of which the kernel knows only the newer calls
NEWER = {"epoll_wait": "epoll_pwait", "poll": "ppoll", "pause": "ppoll"}
PATIENCE_S = 300  # for what never comes


def calls_of(pid):
    """The numbers of the calls that its threads are in, except those that have ended; None: one is in no call."""
    calls = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat") as f:
            state = f.read().rpartition(")")[2].split()[0]
        with open(f"/proc/{pid}/task/{thread}/syscall") as f:
            call = f.read().split()[0]
        if state == "Z":
            continue
        if state not in "SDT" or call == "running":
            return None
        calls.append(int(call))
    return sorted(calls)


def await_calls(pid, wanted):
    end = time.monotonic() + PATIENCE_S
    while wanted and calls_of(pid) != wanted:
        if time.monotonic() > end:
            raise SystemExit(f"process {pid} is in calls {calls_of(pid)}, not {wanted}")
        time.sleep(0.01)


def plain(text, pid, facts):
    """Without numbers that differ from run to run."""
    names = {pid: "MAIN"}
    for match in re.finditer(r"thread (\d+) '", text):
        names.setdefault(int(match.group(1)), "OTHER")
    for number, name in names.items():
        text = text.replace(f"thread {number} 'hang'", name).replace(f"thread {number} 'hang_O0'", name)
    text = re.sub(r"\bat 0x[0-9a-f]+", "at ADDRESS", text)
    text = text.replace("at ADDRESS (in libc.so.6)", "_IO_stdfile_2_lock")  # it has no debug information
    text = re.sub(r"process \d+ 'worker'", "process NUMBER 'worker'", text) if text.count("'worker'") > 2 else text
    text = re.sub(r"thread \d+,", "thread NUMBER,", text)
    text = text.replace(os.environ["FIFO"], "FIFO")
    text = text.replace(f"process {pid} has", "process PID has")
    text = re.sub(r"(in select, at most) .*", r"\1 TIME", text)
    text = re.sub(r"process \d+ 'newborn'", "process NUMBER 'newborn'", text)
    text = text.replace(f"is stopped by a signal (kill -CONT {pid} lets it go on)", "STOPPED")
    text = re.sub(r"/tmp/hang\w{6}", "FILE", text)
    text = re.sub(r"(connected to 127\.0\.0\.1):\d+", r"\1:CLIENT", text)
    text = text.replace(f"of set {facts.get('set')} ", "of set SET ")
    for name in ("child", "port"):
        if name in facts:
            text = re.sub(rf"(process |:){facts[name]}\b", name.upper(), text)
            text = text.replace("127.0.0.1PORT", "127.0.0.1:PORT")
    return re.sub(rf"process {os.getpid()} '[^']*'(; )?.*", r"LOOKER 'python3'\1", text)


def summary(text):
    things, frames, rest, ended = [], {}, [], {}
    for line in text.splitlines():
        kind, _, words = line.partition(" ")
        if kind == "thing":
            things.append(words.partition(" ")[2])
        elif kind == "frame":
            frames.setdefault(len(things) - 1, []).append(words.split()[1])
        elif kind == "link":
            rest.append(words.replace("→", "->").replace("⇢", "~>"))
        elif kind == "remark":
            rest.append(line)
        else:
            ended[kind] = int(words)
    lines = []
    for i, thing in enumerate(things):
        name, state, *cycle = thing.split("; ")
        is_thread = name in ("MAIN", "OTHER")
        parts = [f"{name} {state}"] if is_thread else [name] + ([state] if state else [])
        head = "; ".join(parts + cycle)
        lines.append(head + (": " + " < ".join(f for f in frames[i][:2] if f != "_start") if i in frames else ""))
    return [line.rstrip("; ") for line in lines] + rest, ended


def await_state(pid, thread, state):
    end = time.monotonic() + PATIENCE_S
    while open(f"/proc/{pid}/task/{thread}/stat").read().rpartition(")")[2].split()[0] != state:
        if time.monotonic() > end:
            raise SystemExit(f"thread {thread} of {pid} does not get to state {state}")
        time.sleep(0.01)


def stop(pid):
    """Stops its threads, and waits until all are."""
    os.kill(pid, signal.SIGSTOP)
    for thread in os.listdir(f"/proc/{pid}/task"):
        await_state(pid, thread, "T")


def try_case(graph, hang, case, numbers):
    calls, truth = CASES[case]
    name, _, stopped = case.partition(" ")
    process = subprocess.Popen([hang, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    facts = {}
    expected = [line.strip() for line in truth.strip().splitlines()]
    # It is interrupted 50 times a second, and on a busy machine each time waits for its turn: a look may come too early.
    looks = 50 if name == "interrupted" else 1
    try:
        for line in process.stdout:
            if line == "ready\n":
                break
            key, value = line.split()
            facts[key] = int(value)
        wanted, of_child = (sorted(numbers.get(c, numbers.get(NEWER.get(c))) for c in part.split())
                            for part in calls.partition(" / ")[::2])
        await_calls(process.pid, wanted)
        await_calls(facts.get("child"), of_child)
        if "child" in facts:
            await_state(facts["child"], facts["child"], "S")
        if stopped:
            stop(process.pid)
        for _ in range(looks):
            seen = subprocess.run([graph, str(process.pid)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            found, ended = summary(plain(seen.stdout, process.pid, facts))
            if found == expected:
                break
        await_calls(process.pid, wanted)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        if "set" in facts:
            subprocess.run(["ipcrm", "-s", str(facts["set"])], check=True)
    if seen.returncode or found != expected or (ended["stopped"] != 0) != (name == "busy"):
        print(f"FAILED: {case}: status {seen.returncode}, {ended}; expected:\n  " + "\n  ".join(expected))
        print("found:\n  " + "\n  ".join(found))
        print(seen.stderr, end="")
        return 1
    return 0


def main():
    graph, hang, *names = sys.argv[1:]
    directory = tempfile.TemporaryDirectory()
    os.environ["FIFO"] = f"{directory.name}/fifo"
    os.mkfifo(os.environ["FIFO"])
    output = subprocess.run([hang, "calls"], capture_output=True, text=True, check=True).stdout
    numbers = {name: int(number) for name, number in (line.split() for line in output.splitlines())}
    failed = sum(try_case(graph, hang, name, numbers) for name in names or CASES)
    print(f"{len(names or CASES)} cases of {os.path.basename(hang)}, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
