#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""guards.py SOURCE FOLDER [FILE[:LINE]...]: whether tests/model notices when something is missing that threads rely on.

One at a time, in a copy of one file of the recorder: each memory order becomes relaxed, each fence goes, each call that
stands for itself goes, and each condition of an if is taken for true, and for false. The rest is compiled as it is, and the
model runs its short scenes. What no scene notices is listed, unless tests/torture/guards.known says why none can:
the file, the line's text, what was done to it, and the reason, with tabs between.
  JOBS=2           so many at once
  WHAT='relaxed'   only what this expression finds in 'release relaxed', 'no fence', 'not called', 'if true', 'if false'
  SCENES='a;b'     only these scenes
  COUNT=30 SEED=1  only so many of them, drawn by this seed
  LONGEST=900      seconds for one change; what takes longer counts as missed"""
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

# Where threads meet; what else stands in these files is the same with one thread, and tested with one.
FILES = {
    'pool.c': None,
    'roll.c': None,
    'cells.c': None,
    'pending.c': ['byte_of', 'says_ended', 'find_byte', 'look_up', 'is_sure', 'weft_record_pending_over', 'weft_record_pending_gone',
                  'weft_record_pending_unlinked', 'was_let_go', 'check_again', 'cell_for_note', 'try_to_keep', 'keep_fact', 'keep_wait',
                  'count_dropped', 'keep_note', 'store_byte', 'keep_became', 'try_to_create', 'keep_creation', 'end_became',
                  'any_became', 'count_pending', 'may_concern_others', 'weft_record_pending_keep', 'weft_record_pending_recheck',
                  'weft_record_pending_links', 'weft_record_pending_resolved', 'weft_record_pending_became', 'weft_record_pending_own',
                  'weft_record_pending_created'],
    'thread.c': ['push_free', 'give_back', 'take_slot', 'weft_record_thread_new', 'weft_record_threads_alone', 'weft_record_threads_barrier',
                 'weft_record_threads', 'weft_record_threads_quiet'],
    'start.c': ['weft_record_try_lock', 'weft_record_unlock', 'start', 'weft_record_stop_locked', 'weft_pause'],
    'calls.c': ['set_busy', 'renew', 'refuse', 'pen_up', 'pen_publish', 'touch', 'ended', 'became'],
    'control.c': ['wanted', 'restore_words', 'weft_record_switch', 'weft_record_switch_over', 'obey', 'copy_request', 'serve', 'is_settled',
                  'weft_record_asked', 'weft_record_is_on'],
}
ORDERS_ONLY = ['start.c']  # what it calls, and when, other tests notice

SCENES = [s for s in os.environ.get('SCENES', '').split(';') if s]


def functions(text):
    """Names, and where their bodies stand."""
    for m in re.finditer(r"^[a-z_][^#;={}]*?\b(\w+)\((?:[^();{}]|\([^();{}]*\))*\)\n\{\n", text, re.M | re.I):
        end = text.index('\n}\n', m.end())
        yield m.group(1), m.end(), end + 1


def closing(text, at):
    """The place behind the parenthesis that closes the one at at."""
    depth = 0
    while True:
        depth += {'(': 1, ')': -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at


def mutants(text, only, orders_only):
    """What is done, where, and the text afterwards."""
    for name, begin, end in functions(text):
        if only and name not in only:
            continue
        for m in re.compile(r'__atomic_thread_fence\([^)]*\);').finditer(text, begin, end):
            yield 'no fence', m.start(), text[:m.start()] + ';' + text[m.end():]
        for m in re.compile(r'__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)').finditer(text, begin, end):
            before = text[text.rindex('\n', 0, m.start()):m.start()]
            if 'fence(' not in before:
                yield m.group(1).lower() + ' relaxed', m.start(), text[:m.start()] + '__ATOMIC_RELAXED' + text[m.end():]
        if orders_only:
            continue
        for m in re.compile(r'^ +(?!return|if|while|for|else|do\b)[a-z_]\w*\((?:[^;{}]|\n)*?\);$', re.M).finditer(text, begin, end):
            if 'signal_fence' not in m.group(0) and 'thread_fence' not in m.group(0):
                yield 'not called', m.start() + len(m.group(0)) - len(m.group(0).lstrip()), \
                    text[:m.start()] + ';' + text[m.end():]
        for m in re.compile(r'\bif \(').finditer(text, begin, end):
            at = m.end() - 1
            to = closing(text, at)
            condition = text[at:to]
            yield 'if true', m.start(), text[:at] + '(' + condition + ' || 1)' + text[to:]
            yield 'if false', m.start(), text[:at] + '(' + condition + ' && 0)' + text[to:]


def line_of(text, at):
    return text.count('\n', 0, at) + 1


class Build:
    def __init__(self, source, build):
        self.source, self.folder = source, tempfile.mkdtemp(prefix='guards-', dir=build)
        self.cc = os.environ.get('CC', 'cc')
        self.model = os.path.join(source, 'tests/model')
        self.flags = ['-std=gnu11', '-O2', '-w', '-D_GNU_SOURCE', '-DWEFT_VERSION="guards"']
        self.objects = {}
        for name in ('calls', 'cells', 'control', 'follow', 'layout', 'pending', 'roll', 'text'):
            self.objects[name + '.c'] = self.compile(os.path.join(source, 'src/record', name + '.c'), True)
        for name in ('pool', 'thread', 'start'):
            self.objects[name + '.c'] = self.compile(os.path.join(self.model, 'in_' + name + '.c'), True)
        self.objects['litmus'] = self.compile(os.path.join(self.model, 'litmus.c'), True)
        for name in ('explore', 'host', 'judge', 'memory', 'model'):
            self.objects[name] = self.compile(os.path.join(self.model, name + '.c'), False)
        self.objects['file.c'] = self.compile(os.path.join(source, 'src/record/file.c'), False)

    def compile(self, path, explored, before=None, to=None):
        to = to or os.path.join(self.folder, os.path.basename(path) + '.o')
        include = ['-I' + i for i in ([before] if before else []) + [os.path.join(self.source, 'src'),
                   os.path.join(self.source, 'include'), self.model]]
        more = ['-fsanitize=thread', '-include', os.path.join(self.model, 'shim.h')] if explored else []
        done = subprocess.run([self.cc, *self.flags, *more, *include, '-c', path, '-o', to], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr)
        return to

    def run(self, name, text):
        """What the model says of a file with that text."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            os.mkdir(os.path.join(folder, 'record'))
            with open(os.path.join(folder, 'record', name), 'w') as f:
                f.write(text)
            path = os.path.join(folder, 'record', name)
            if self.objects[name].endswith('in_' + name + '.o'):
                path = os.path.join(self.model, 'in_' + name)
            try:
                compiled = self.compile(path, True, folder, os.path.join(folder, 'mutant.o'))
            except ValueError:
                return 'does not compile'
            program = os.path.join(folder, 'model')
            objects = [compiled if n == name else o for n, o in self.objects.items()]
            subprocess.run([self.cc, '-o', program, *objects], check=True, capture_output=True)
            try:
                done = subprocess.run([program, '--brief', *SCENES], capture_output=True, text=True, timeout=int(os.environ.get('LONGEST', '900')))
            except subprocess.TimeoutExpired:
                return 'too slow'
            lines = done.stdout.strip().split('\n')
            return None if done.returncode == 0 else lines[-1] if done.returncode == 1 else f'signal {-done.returncode}'


def known(path):
    """What nobody can notice: file, text of the line, what is done -> why."""
    table = {}
    with open(path) as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                name, text, what, why = line.rstrip('\n').split('\t')
                table[name, text, what] = why
    return table


def main():
    source, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    wanted = sys.argv[3:]
    reasons = known(os.path.join(source, 'tests/torture/guards.known'))
    b = Build(source, build)
    unmutated = os.path.join(source, 'src/record/pool.c')
    with open(unmutated) as f:
        said = b.run('pool.c', f.read())
    if said:
        print('without any change the model says:', said)
        return 1
    tasks = []
    for name, only in FILES.items():
        with open(os.path.join(source, 'src/record', name)) as f:
            text = f.read()
        for what, at, changed in mutants(text, only, name in ORDERS_ONLY):
            line = line_of(text, at)
            if (not wanted or name in wanted or f'{name}:{line}' in wanted) and re.search(os.environ.get('WHAT', ''), what):
                tasks.append((name, line, text.split('\n')[line - 1].strip(), what, changed))
    if os.environ.get('COUNT'):
        tasks = random.Random(int(os.environ.get('SEED', '1'))).sample(tasks, min(int(os.environ['COUNT']), len(tasks)))
    counts = {'noticed': 0, 'known': 0, 'missed': 0, 'nothing': 0}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS', '2'))) as pool:
        for (name, line, text, what, _), said in zip(tasks, pool.map(lambda t: b.run(t[0], t[4]), tasks)):
            verdict = 'noticed' if said else 'known' if (name, text, what) in reasons else 'missed'
            if said == 'does not compile':
                verdict = 'nothing'
            if said == 'too slow':  # a busy machine, or a change without an end: not known to be noticed
                verdict = 'missed'
            counts[verdict] += 1
            print(f'{verdict:8}{name}:{line}: {what}: {text}' + (f'  ({said})' if said else ''), flush=True)
    print(f"{counts['noticed']} noticed, {counts['known']} cannot be, {counts['missed']} missed")
    return counts['missed'] > 0


sys.exit(main())
