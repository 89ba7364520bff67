$ weft profile  many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (97.6 %) for promises, 0.0 ms (0.0 %) for none, 0.5 ms (2.4 %) before events
            were recorded, or after

      self   self %    sum %       total  total %  function
   18.5 ms   90.2 %   90.2 %     18.5 ms   90.2 %  lookup  keys.c:5
    1.5 ms    7.3 %   97.6 %      1.5 ms    7.3 %  0x1310 (keys)
    0.5 ms    2.4 %  100.0 %     20.5 ms  100.0 %  loop  loop.c:10
    0.0 ms    0.0 %  100.0 %     20.5 ms  100.0 %  main  keys.c:1

      took    share    sum %     samples  label
   15.0 ms   73.2 %   73.2 %          30  GET /key-#
    5.0 ms   24.4 %   97.6 %          10  parse
    0.5 ms    2.4 %  100.0 %           1  (events not recorded)
   20.5 ms  100.0 %  100.0 %          41  total
#: any number; --fold=no keeps such labels apart

Without a name: 7.3 % of all samples
     7.3 %  /opt/demo/keys: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --by label --limit 3 many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (97.6 %) for promises, 0.0 ms (0.0 %) for none, 0.5 ms (2.4 %) before events
            were recorded, or after

      took    share    sum %     samples  label
   15.0 ms   73.2 %   73.2 %          30  GET /key-#
    5.0 ms   24.4 %   97.6 %          10  parse
    0.5 ms    2.4 %  100.0 %           1  (events not recorded)
   20.5 ms  100.0 %  100.0 %          41  total
#: any number; --fold=no keeps such labels apart

$ weft profile --by family many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (97.6 %) for promises, 0.0 ms (0.0 %) for none, 0.5 ms (2.4 %) before events
            were recorded, or after

      took    share    sum %     samples  label
   15.0 ms   73.2 %   73.2 %          30  GET /key-#
    5.0 ms   24.4 %   97.6 %          10  parse
    0.5 ms    2.4 %  100.0 %           1  (events not recorded)
   20.5 ms  100.0 %  100.0 %          41  total
#: any number; --fold=no keeps such labels apart

$ weft profile --by label --fold=no --limit 3 many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (97.6 %) for promises, 0.0 ms (0.0 %) for none, 0.5 ms (2.4 %) before events
            were recorded, or after

      took    share    sum %     samples  label
    5.0 ms   24.4 %   24.4 %          10  parse
    0.5 ms    2.4 %   26.8 %           1  (events not recorded)
    0.5 ms    2.4 %   29.3 %           1  GET /key-0
   14.5 ms   70.7 %  100.0 %          29  29 more; --limit 0 shows all
   20.5 ms  100.0 %  100.0 %          41  total

$ weft profile --by root --limit 2 many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (97.6 %) for promises, 0.0 ms (0.0 %) for none, 0.5 ms (2.4 %) before events
            were recorded, or after

      took    share    sum %     samples  on behalf of
   20.0 ms   97.6 %   97.6 %          40  listener
    0.5 ms    2.4 %  100.0 %           1  (events not recorded)
   20.5 ms  100.0 %  100.0 %          41  total

$ weft profile --tree --async-stacks many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (97.6 %) for promises, 0.0 ms (0.0 %) for none, 0.5 ms (2.4 %) before events
            were recorded, or after

     total  total %   self %   calls, from the outside in
   20.0 ms   97.6 %            listener #1
   20.0 ms   97.6 %            └─ GET /key-#
   15.0 ms   73.2 %   73.2 %      ├─ lookup
    5.0 ms   24.4 %               └─ parse
    3.5 ms   17.1 %   17.1 %         ├─ lookup
    1.5 ms    7.3 %    7.3 %         └─ 0x1310 (keys)
    0.5 ms    2.4 %            (events not recorded)
    0.5 ms    2.4 %    2.4 %   └─ main › loop
#: any number; --fold=no keeps such labels apart

Without a name: 7.3 % of all samples
     7.3 %  /opt/demo/keys: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --label 'GET /key-#' --by label --limit 2 many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  15.0 ms (100.0 %) for promises, 0.0 ms (0.0 %) for none
  shown     only promises with the label 'GET /key-#': 15.0 ms, which is 73.2 % of all

      took    share    sum %     samples  label
   15.0 ms  100.0 %  100.0 %          30  GET /key-#
   15.0 ms  100.0 %  100.0 %          30  total
#: any number; --fold=no keeps such labels apart

$ weft profile --promise 'GET /key-#' --by label --fold=no --limit 1 many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  20.0 ms (100.0 %) for promises, 0.0 ms (0.0 %) for none
  shown     only promises with the label 'GET /key-#' and those that they created: 20.0 ms, which is
            97.6 % of all

      took    share    sum %     samples  label
    5.0 ms   25.0 %   25.0 %          10  parse
   15.0 ms   75.0 %  100.0 %          30  30 more; --limit 0 shows all
   20.0 ms  100.0 %  100.0 %          40  total

$ weft profile --off-cpu many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  away      threads were off the cores for 50 µs, 2 times: 50 µs they waited for something, 0 ns (0
            times) they could have run, but others did
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  0.000 µs (0.0 %) for promises, 50.000 µs (100.0 %) for none

      away    share      times        each  why        where, and who called it
 50.000 µs  100.0 %          2       25 µs  waits      loop ← main

      away    share    sum %       times  thread
 50.000 µs  100.0 %  100.0 %           2  keys 0
 50.000 µs  100.0 %  100.0 %           2  total

$ weft profile --label parse --top many.weft
many.weft
  samples   41 of cpu-clock, one for each 500 µs of CPU time; none lost
  rate      2,000 a second asked for
  over      29.9 ms, 1 thread of 1 process, 20.5 ms of CPU time: 0.69 cores busy
  missing   when threads left the cores, after the first 20.82 ms: they did so too often to record
            it; 9 records that are no samples (of switches, or what was mapped), for lack of space
  promises  5.0 ms (100.0 %) for promises, 0.0 ms (0.0 %) for none
  shown     only promises with the label 'parse': 5.0 ms, which is 24.4 % of all

      self   self %    sum %       total  total %  function
    3.5 ms   70.0 %   70.0 %      3.5 ms   70.0 %  lookup  keys.c:5
    1.5 ms   30.0 %  100.0 %      1.5 ms   30.0 %  0x1310 (keys)
    0.0 ms    0.0 %  100.0 %      5.0 ms  100.0 %  loop  loop.c:10
    0.0 ms    0.0 %  100.0 %      5.0 ms  100.0 %  main  keys.c:1

Without a name: 30.0 % of what is shown
    30.0 %  /opt/demo/keys: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --json --by label --fold --min 1 many.weft
{"files": [{"file": "many.weft", "kind": "weft trace", "samples": 41, "absences": 1, "events": true, "program": null}],
 "measured": {"event": {"name": "cpu-clock", "unit": "ns", "period": 500000, "frequency_asked": 2000, "rate": null}, "samples": 41, "total": 20500000, "overwritten": 0, "lost": 0, "lost_other": 9, "switches_until_ns": 21920000, "skipped": 0, "span_ns": 29900100, "threads": 1, "processes": 1, "away_ns": 50000, "away_times": 2, "preempted_ns": 0, "promises": true},
 "report": "top",
 "by": "label",
 "folded": true,
 "off_cpu": false,
 "shown": {"samples": 41, "total": 20500000, "without_promise": 500000, "overwritten": 0, "not_recorded": 500000, "unit": "ns"},
 "rows": [
  {"name": "GET /key-#", "kind": "label", "self": 15000000, "total": 15000000, "samples": 30},
  {"name": "parse", "kind": "label", "self": 5000000, "total": 5000000, "samples": 10},
  {"name": "(events not recorded)", "kind": "label", "self": 500000, "total": 500000, "samples": 1}],
 "without_name": [
  {"object": "/opt/demo/keys", "why": "missing", "samples": 3, "total": 1500000}]}

$ weft profile --fold=perhaps many.weft
weft profile: --fold: there is no "perhaps"; there are yes, no; see weft profile --help
exit status 2

$ weft profile --kallsyms nowhere many.weft
weft profile: --kallsyms: nowhere cannot be read; see weft profile --help
exit status 2

