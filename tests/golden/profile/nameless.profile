$ weft profile --off-cpu nameless.weft
nameless.weft: server
  samples   1 of cpu-clock, one for each 1 ms of CPU time; none lost
  rate      1,000 a second asked for, 333 a second got while threads ran
  over      8 ms, 1 thread of 1 process, 1 ms of CPU time: 0.12 cores busy
  away      threads were off the cores for 5 ms, 3 times: 5 ms they waited for something, 0 ns (0
            times) they could have run, but others did
  promises  none known: there are samples only, no events of promises

      away    share      times        each  why        where, and who called it
  3.000 ms   60.0 %          1        3 ms  waits      poll ← main
  1.000 ms   20.0 %          1        1 ms  waits      main
  1.000 ms   20.0 %          1        1 ms  waits      nanosleep ← main

      away    share    sum %       times  thread
  5.000 ms  100.0 %  100.0 %           3  server 0
  5.000 ms  100.0 %  100.0 %           3  total

$ weft profile --json --off-cpu nameless.weft
{"files": [{"file": "nameless.weft", "kind": "weft trace", "samples": 1, "absences": 3, "events": false, "program": "server"}],
 "measured": {"event": {"name": "cpu-clock", "unit": "ns", "period": 1000000, "frequency_asked": 1000, "rate": 333.33333333333331}, "samples": 1, "total": 1000000, "overwritten": 0, "lost": 0, "lost_other": 0, "switches_until_ns": null, "skipped": 0, "span_ns": 8000000, "threads": 1, "processes": 1, "away_ns": 5000000, "away_times": 3, "preempted_ns": 0, "promises": false},
 "report": "off_cpu",
 "by": "function",
 "folded": false,
 "off_cpu": true,
 "shown": {"samples": 3, "total": 5000000, "without_promise": 5000000, "overwritten": 0, "not_recorded": 0, "unit": "ns"},
 "rows": [
  {"name": "schedule", "kind": "function", "file": null, "start_line": null, "line": null, "object": "[kernel]", "self": 4000000, "total": 4000000, "samples": 2},
  {"name": "0x1610 (server)", "kind": "address", "object": "/opt/demo/server", "self": 1000000, "total": 1000000, "samples": 1},
  {"name": "main", "kind": "function", "file": "/src/server.c", "start_line": 80, "line": 92, "object": "/opt/demo/server", "self": 0, "total": 5000000, "samples": 0},
  {"name": "0x1310 (server)", "kind": "address", "object": "/opt/demo/server", "self": 0, "total": 4000000, "samples": 0},
  {"name": "0x120f (server)", "kind": "address", "object": "/opt/demo/server", "self": 0, "total": 3000000, "samples": 0},
  {"name": "poll", "kind": "function", "file": null, "start_line": null, "line": null, "object": "/opt/demo/server", "self": 0, "total": 3000000, "samples": 0},
  {"name": "nanosleep", "kind": "function", "file": null, "start_line": null, "line": null, "object": "/opt/demo/server", "self": 0, "total": 1000000, "samples": 0}],
 "places": [
  {"why": "waits", "ns": 3000000, "times": 1, "stack": ["poll", "main"]},
  {"why": "waits", "ns": 1000000, "times": 1, "stack": ["main"]},
  {"why": "waits", "ns": 1000000, "times": 1, "stack": ["nanosleep", "main"]}],
 "threads": [
  {"name": "server 0", "kind": "thread", "self": 5000000, "total": 5000000, "samples": 3}],
 "without_name": []}

