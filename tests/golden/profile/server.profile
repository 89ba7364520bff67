$ weft profile  server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      self   self %    sum %       total  total %  function
      4 ms   36.4 %   36.4 %        4 ms   36.4 %  compress  zip.c:100
      4 ms   36.4 %   72.7 %        4 ms   36.4 %  parse  parse.c:5
      1 ms    9.1 %   81.8 %        7 ms   63.6 %  loop  loop.c:10
      1 ms    9.1 %   90.9 %        1 ms    9.1 %  0x1b10 (server)
      1 ms    9.1 %  100.0 %        1 ms    9.1 %  tcp_sendmsg  [kernel]
      0 ms    0.0 %  100.0 %        7 ms   63.6 %  main  server.c:80
      0 ms    0.0 %  100.0 %        6 ms   54.5 %  serve  server.c:40
      0 ms    0.0 %  100.0 %        4 ms   36.4 %  start_thread  thread.c:1
      0 ms    0.0 %  100.0 %        1 ms    9.1 %  ksys_write  [kernel]
      0 ms    0.0 %  100.0 %        1 ms    9.1 %  reply  server.c:60

      took    share    sum %     samples  label
      4 ms   36.4 %   36.4 %           4  GET /x
      4 ms   36.4 %   72.7 %           4  zip
      2 ms   18.2 %   90.9 %           2  PUT /x
      1 ms    9.1 %  100.0 %           1  (no promise)
     11 ms  100.0 %  100.0 %          11  total

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --top --limit 2 server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      self   self %    sum %       total  total %  function
      4 ms   36.4 %   36.4 %        4 ms   36.4 %  compress  zip.c:100
      4 ms   36.4 %   72.7 %        4 ms   36.4 %  parse  parse.c:5
      3 ms   27.3 %  100.0 %                       8 more; --limit 0 shows all

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --top --min 20 server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      self   self %    sum %       total  total %  function
      4 ms   36.4 %   36.4 %        4 ms   36.4 %  compress  zip.c:100
      4 ms   36.4 %   72.7 %        4 ms   36.4 %  parse  parse.c:5
      1 ms    9.1 %   81.8 %        7 ms   63.6 %  loop  loop.c:10
      2 ms   18.2 %  100.0 %                       7 more; --limit 0 shows all

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --tree server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

     total  total %   self %   calls, from the outside in
      7 ms   63.6 %    9.1 %   main › loop
      6 ms   54.5 %            └─ serve
      4 ms   36.4 %   36.4 %      ├─ parse
      1 ms    9.1 %    9.1 %      ├─ 0x1b10 (server)
      1 ms    9.1 %    9.1 %      └─ reply › ksys_write › tcp_sendmsg
      4 ms   36.4 %   36.4 %   start_thread › compress

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --tree --limit 3 server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

     total  total %   self %   calls, from the outside in
      7 ms   63.6 %    9.1 %   main › loop
      6 ms   54.5 %            └─ serve
7 calls with less than 36.4 % of the total are left out; --min 0 --limit 0 shows all

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --tree --min 0 --by thread server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

     total  total %   self %   calls, from the outside in
      7 ms   63.6 %            server 0
      7 ms   63.6 %    9.1 %   └─ main › loop
      6 ms   54.5 %               └─ serve
      4 ms   36.4 %   36.4 %         ├─ parse
      1 ms    9.1 %    9.1 %         ├─ 0x1b10 (server)
      1 ms    9.1 %    9.1 %         └─ reply › ksys_write › tcp_sendmsg
      4 ms   36.4 %            zipper 1
      4 ms   36.4 %   36.4 %   └─ start_thread › compress

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --tree --async-stacks server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

     total  total %   self %   calls, from the outside in
      6 ms   54.5 %            PUT /x #3
      4 ms   36.4 %            ├─ zip #4
      4 ms   36.4 %   36.4 %   │  └─ compress
      1 ms    9.1 %    9.1 %   ├─ 0x1b10 (server)
      1 ms    9.1 %    9.1 %   └─ parse
      4 ms   36.4 %            GET /x
      3 ms   27.3 %   27.3 %   ├─ parse
      1 ms    9.1 %    9.1 %   └─ reply › ksys_write › tcp_sendmsg
      1 ms    9.1 %            (no promise)
      1 ms    9.1 %    9.1 %   └─ main › loop

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --tree --async-stacks=waits --thread zipper server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  4 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only thread 1 'zipper': 4 ms, which is 36.4 % of all

     total  total %   self %   calls, from the outside in
      4 ms  100.0 %            zip #4
      4 ms  100.0 %  100.0 %   └─ compress

$ weft profile --lines server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      self   self %    sum %   total %  line         function, and what stands there
      4 ms   36.4 %   36.4 %    36.4 %  parse.c:9    parse
      4 ms   36.4 %   72.7 %    36.4 %  zip.c:120    compress
      1 ms    9.1 %   81.8 %    63.6 %  loop.c:31    loop
      1 ms    9.1 %   90.9 %     9.1 %  -            0x1b10 (server)
      1 ms    9.1 %  100.0 %     9.1 %  [kernel]     tcp_sendmsg
      0 ms    0.0 %  100.0 %    63.6 %  server.c:92  main
      0 ms    0.0 %  100.0 %    54.5 %  server.c:44  serve
      0 ms    0.0 %  100.0 %    36.4 %  thread.c:7   start_thread
      0 ms    0.0 %  100.0 %     9.1 %  server.c:63  reply
      0 ms    0.0 %  100.0 %     9.1 %  [kernel]     ksys_write

Without a name: 9.1 % of all samples
     9.1 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --by label server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  label
      4 ms   36.4 %   36.4 %           4  GET /x
      4 ms   36.4 %   72.7 %           4  zip
      2 ms   18.2 %   90.9 %           2  PUT /x
      1 ms    9.1 %  100.0 %           1  (no promise)
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --by promise server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  promise
      4 ms   36.4 %   36.4 %           4  zip #4
      3 ms   27.3 %   63.6 %           3  GET /x #2
      2 ms   18.2 %   81.8 %           2  PUT /x #3
      1 ms    9.1 %   90.9 %           1  (no promise)
      1 ms    9.1 %  100.0 %           1  GET /x #5
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --by root server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  on behalf of
      6 ms   54.5 %   54.5 %           6  PUT /x
      4 ms   36.4 %   90.9 %           4  GET /x
      1 ms    9.1 %  100.0 %           1  (no promise)
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --by thread server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  thread
      7 ms   63.6 %   63.6 %           7  server 0
      4 ms   36.4 %  100.0 %           4  zipper 1
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --by core server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  core
      7 ms   63.6 %   63.6 %           7  core 0
      4 ms   36.4 %  100.0 %           4  core 1
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --by object server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  object
     10 ms   90.9 %   90.9 %          10  /opt/demo/server
      1 ms    9.1 %  100.0 %           1  [kernel]
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --by process server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none

      took    share    sum %     samples  process
     11 ms  100.0 %  100.0 %          11  server 70
     11 ms  100.0 %  100.0 %          11  total

$ weft profile --kernel --limit 3 server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  1 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only in the kernel: 1 ms, which is 9.1 % of all

      self   self %    sum %       total  total %  function
      1 ms  100.0 %  100.0 %        1 ms  100.0 %  tcp_sendmsg  [kernel]
      0 ms    0.0 %  100.0 %        1 ms  100.0 %  ksys_write  [kernel]
      0 ms    0.0 %  100.0 %        1 ms  100.0 %  loop  loop.c:10
      0 ms    0.0 %  100.0 %                       3 more; --limit 0 shows all

      took    share    sum %     samples  label
      1 ms  100.0 %  100.0 %           1  GET /x
      1 ms  100.0 %  100.0 %           1  total

$ weft profile --user --by object server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  9 ms (90.0 %) for promises, 1 ms (10.0 %) for none
  shown     only outside the kernel: 10 ms, which is 90.9 % of all

      took    share    sum %     samples  object
     10 ms  100.0 %  100.0 %          10  /opt/demo/server
     10 ms  100.0 %  100.0 %          10  total

$ weft profile --kernel --user server.weft
weft profile: --kernel and --user exclude each other; see weft profile --help
exit status 2

$ weft profile --off-cpu --user server.weft
weft profile: --user is about CPU time; --off-cpu is not; see weft profile --help
exit status 2

$ weft profile --off-cpu server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  away      threads were off the cores for 2.9 ms, 3 times: 2.5 ms they waited for something, 400 µs
            (1 time) they could have run, but others did
  promises  0.400 ms (13.8 %) for promises, 2.500 ms (86.2 %) for none

      away    share      times        each  why        where, and who called it
  2.000 ms   69.0 %          1        2 ms  waits      poll ← loop ← main
  0.500 ms   17.2 %          1      500 µs  waits      read_all ← loop ← main
  0.400 ms   13.8 %          1      400 µs  preempted  compress ← start_thread

      away    share    sum %       times  thread
  2.500 ms   86.2 %   86.2 %           2  server 0
  0.400 ms   13.8 %  100.0 %           1  zipper 1
  2.900 ms  100.0 %  100.0 %           3  total

$ weft profile --off-cpu --tree server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  away      threads were off the cores for 2.9 ms, 3 times: 2.5 ms they waited for something, 400 µs
            (1 time) they could have run, but others did
  promises  0.400 ms (13.8 %) for promises, 2.500 ms (86.2 %) for none

     total  total %   self %   where it waited: from the outside in
  2.500 ms   86.2 %            main › loop
  2.000 ms   69.0 %   69.0 %   ├─ poll › do_epoll_wait › schedule
  0.500 ms   17.2 %   17.2 %   └─ read_all › vfs_read › schedule
  0.400 ms   13.8 %            start_thread › compress › schedule
  0.400 ms   13.8 %   13.8 %   └─ (preempted)

$ weft profile --off-cpu --by label server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  away      threads were off the cores for 2.9 ms, 3 times: 2.5 ms they waited for something, 400 µs
            (1 time) they could have run, but others did
  promises  0.400 ms (13.8 %) for promises, 2.500 ms (86.2 %) for none

      away    share    sum %       times  label
  2.500 ms   86.2 %   86.2 %           2  (no promise)
  0.400 ms   13.8 %  100.0 %           1  zip
  2.900 ms  100.0 %  100.0 %           3  total

$ weft profile --diff later.weft server.weft
  before  later.weft: 4 samples, 9.60 M
  after   server.weft: 11 samples, 11 ms
  note    before: samples of cycles; after: of cpu-clock

   before    after    points  function
   50.0 %    9.1 %     -40.9  loop  loop.c:10
   25.0 %   36.4 %     +11.4  parse  parse.c:5
   25.0 %   36.4 %     +11.4  compress  zip.c:100
        -    9.1 %      +9.1  0x1b10 (server)
        -    9.1 %      +9.1  tcp_sendmsg  [kernel]

$ weft profile --diff later.weft --by label --limit 2 server.weft
weft: later.weft: --by label needs to know which promise ran, but there are no events of promises; record both: weft record --sample -- PROGRAM
exit status 1

$ weft profile --promise 'PUT /x' server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  6 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only promises with the label 'PUT /x' and those that they created: 6 ms, which is 54.5 %
            of all

      self   self %    sum %       total  total %  function
      4 ms   66.7 %   66.7 %        4 ms   66.7 %  compress  zip.c:100
      1 ms   16.7 %   83.3 %        1 ms   16.7 %  0x1b10 (server)
      1 ms   16.7 %  100.0 %        1 ms   16.7 %  parse  parse.c:5
      0 ms    0.0 %  100.0 %        4 ms   66.7 %  start_thread  thread.c:1
      0 ms    0.0 %  100.0 %        2 ms   33.3 %  loop  loop.c:10
      0 ms    0.0 %  100.0 %        2 ms   33.3 %  main  server.c:80
      0 ms    0.0 %  100.0 %        2 ms   33.3 %  serve  server.c:40

      took    share    sum %     samples  label
      4 ms   66.7 %   66.7 %           4  zip
      2 ms   33.3 %  100.0 %           2  PUT /x
      6 ms  100.0 %  100.0 %           6  total

Without a name: 16.7 % of what is shown
    16.7 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --promise '#2' server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  3 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only promise #2 'GET /x' and those that it created: 3 ms, which is 27.3 % of all

      self   self %    sum %       total  total %  function
      2 ms   66.7 %   66.7 %        2 ms   66.7 %  parse  parse.c:5
      1 ms   33.3 %  100.0 %        1 ms   33.3 %  tcp_sendmsg  [kernel]
      0 ms    0.0 %  100.0 %        3 ms  100.0 %  loop  loop.c:10
      0 ms    0.0 %  100.0 %        3 ms  100.0 %  main  server.c:80
      0 ms    0.0 %  100.0 %        3 ms  100.0 %  serve  server.c:40
      0 ms    0.0 %  100.0 %        1 ms   33.3 %  ksys_write  [kernel]
      0 ms    0.0 %  100.0 %        1 ms   33.3 %  reply  server.c:60

      took    share    sum %     samples  label
      3 ms  100.0 %  100.0 %           3  GET /x
      3 ms  100.0 %  100.0 %           3  total

$ weft profile --label 'GET /x' server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  4 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only promises with the label 'GET /x': 4 ms, which is 36.4 % of all

      self   self %    sum %       total  total %  function
      3 ms   75.0 %   75.0 %        3 ms   75.0 %  parse  parse.c:5
      1 ms   25.0 %  100.0 %        1 ms   25.0 %  tcp_sendmsg  [kernel]
      0 ms    0.0 %  100.0 %        4 ms  100.0 %  loop  loop.c:10
      0 ms    0.0 %  100.0 %        4 ms  100.0 %  main  server.c:80
      0 ms    0.0 %  100.0 %        4 ms  100.0 %  serve  server.c:40
      0 ms    0.0 %  100.0 %        1 ms   25.0 %  ksys_write  [kernel]
      0 ms    0.0 %  100.0 %        1 ms   25.0 %  reply  server.c:60

      took    share    sum %     samples  label
      4 ms  100.0 %  100.0 %           4  GET /x
      4 ms  100.0 %  100.0 %           4  total

$ weft profile --from 5ms --to 6ms server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  2 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only from 5 ms on until 6 ms: 2 ms, which is 18.2 % of all

      self   self %    sum %       total  total %  function
      1 ms   50.0 %   50.0 %        1 ms   50.0 %  0x1b10 (server)
      1 ms   50.0 %  100.0 %        1 ms   50.0 %  compress  zip.c:100
      0 ms    0.0 %  100.0 %        1 ms   50.0 %  loop  loop.c:10
      0 ms    0.0 %  100.0 %        1 ms   50.0 %  main  server.c:80
      0 ms    0.0 %  100.0 %        1 ms   50.0 %  serve  server.c:40
      0 ms    0.0 %  100.0 %        1 ms   50.0 %  start_thread  thread.c:1

      took    share    sum %     samples  label
      1 ms   50.0 %   50.0 %           1  PUT /x
      1 ms   50.0 %  100.0 %           1  zip
      2 ms  100.0 %  100.0 %           2  total

Without a name: 50.0 % of what is shown
    50.0 %  /opt/demo/server: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --from 20ms server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  0 ns (0.0 %) for promises, 0 ns (0.0 %) for none
  shown     only from 20 ms on: 0 ns, which is 0.0 % of all

Nothing of it is left: no sample is of what was asked for.

$ weft profile --promise 'GET /x' server.weft
server.weft
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  4 ms (100.0 %) for promises, 0 ms (0.0 %) for none
  shown     only promises with the label 'GET /x' and those that they created: 4 ms, which is 36.4 %
            of all

      self   self %    sum %       total  total %  function
      3 ms   75.0 %   75.0 %        3 ms   75.0 %  parse  parse.c:5
      1 ms   25.0 %  100.0 %        1 ms   25.0 %  tcp_sendmsg  [kernel]
      0 ms    0.0 %  100.0 %        4 ms  100.0 %  loop  loop.c:10
      0 ms    0.0 %  100.0 %        4 ms  100.0 %  main  server.c:80
      0 ms    0.0 %  100.0 %        4 ms  100.0 %  serve  server.c:40
      0 ms    0.0 %  100.0 %        1 ms   25.0 %  ksys_write  [kernel]
      0 ms    0.0 %  100.0 %        1 ms   25.0 %  reply  server.c:60

      took    share    sum %     samples  label
      4 ms  100.0 %  100.0 %           4  GET /x
      4 ms  100.0 %  100.0 %           4  total

$ weft profile --label POST server.weft
weft: server.weft: no promise has the label "POST"; --by label lists them
exit status 1

$ weft profile --thread nobody server.weft
weft: server.weft: there is no thread "nobody"; --by thread lists them
exit status 1

$ weft profile --event cycles server.weft
weft: server.weft: there are no samples of "cycles"; there are those of:
  cpu-clock
exit status 1

$ weft profile --json server.weft
{"files": [{"file": "server.weft", "kind": "weft trace", "samples": 11, "absences": 3, "events": true, "program": null}],
 "measured": {"event": {"name": "cpu-clock", "unit": "ns", "period": 1000000, "frequency_asked": 1000, "rate": 1375.0}, "samples": 11, "total": 11000000, "overwritten": 0, "lost": 2, "lost_other": 0, "switches_until_ns": null, "skipped": 0, "span_ns": 7800000, "threads": 2, "processes": 1, "away_ns": 2900000, "away_times": 3, "preempted_ns": 400000, "promises": true},
 "report": "top",
 "by": "function",
 "folded": false,
 "off_cpu": false,
 "shown": {"samples": 11, "total": 11000000, "without_promise": 1000000, "overwritten": 0, "not_recorded": 0, "unit": "ns"},
 "rows": [
  {"name": "compress", "kind": "function", "file": "/src/zip.c", "start_line": 100, "line": 120, "object": "/opt/demo/server", "self": 4000000, "total": 4000000, "samples": 4},
  {"name": "parse", "kind": "function", "file": "/src/parse.c", "start_line": 5, "line": 9, "object": "/opt/demo/server", "self": 4000000, "total": 4000000, "samples": 4},
  {"name": "loop", "kind": "function", "file": "/src/loop.c", "start_line": 10, "line": 31, "object": "/opt/demo/server", "self": 1000000, "total": 7000000, "samples": 1},
  {"name": "0x1b10 (server)", "kind": "address", "object": "/opt/demo/server", "self": 1000000, "total": 1000000, "samples": 1},
  {"name": "tcp_sendmsg", "kind": "function", "file": null, "start_line": null, "line": null, "object": "[kernel]", "self": 1000000, "total": 1000000, "samples": 1},
  {"name": "main", "kind": "function", "file": "/src/server.c", "start_line": 80, "line": 92, "object": "/opt/demo/server", "self": 0, "total": 7000000, "samples": 0},
  {"name": "serve", "kind": "function", "file": "/src/server.c", "start_line": 40, "line": 44, "object": "/opt/demo/server", "self": 0, "total": 6000000, "samples": 0},
  {"name": "start_thread", "kind": "function", "file": "/src/thread.c", "start_line": 1, "line": 7, "object": "/opt/demo/server", "self": 0, "total": 4000000, "samples": 0},
  {"name": "ksys_write", "kind": "function", "file": null, "start_line": null, "line": null, "object": "[kernel]", "self": 0, "total": 1000000, "samples": 0},
  {"name": "reply", "kind": "function", "file": "/src/server.c", "start_line": 60, "line": 63, "object": "/opt/demo/server", "self": 0, "total": 1000000, "samples": 0}],
 "labels": [
  {"name": "GET /x", "kind": "label", "self": 4000000, "total": 4000000, "samples": 4},
  {"name": "zip", "kind": "label", "self": 4000000, "total": 4000000, "samples": 4},
  {"name": "PUT /x", "kind": "label", "self": 2000000, "total": 2000000, "samples": 2},
  {"name": "(no promise)", "kind": "label", "self": 1000000, "total": 1000000, "samples": 1}],
 "without_name": [
  {"object": "/opt/demo/server", "why": "missing", "samples": 1, "total": 1000000}]}

$ weft profile --json --tree --label zip server.weft
{"files": [{"file": "server.weft", "kind": "weft trace", "samples": 11, "absences": 3, "events": true, "program": null}],
 "measured": {"event": {"name": "cpu-clock", "unit": "ns", "period": 1000000, "frequency_asked": 1000, "rate": 1375.0}, "samples": 11, "total": 11000000, "overwritten": 0, "lost": 2, "lost_other": 0, "switches_until_ns": null, "skipped": 0, "span_ns": 7800000, "threads": 2, "processes": 1, "away_ns": 2900000, "away_times": 3, "preempted_ns": 400000, "promises": true},
 "report": "tree",
 "by": "function",
 "folded": false,
 "off_cpu": false,
 "shown": {"samples": 4, "total": 4000000, "without_promise": 0, "overwritten": 0, "not_recorded": 0, "unit": "ns"},
 "calls": [
  {"name": "start_thread", "kind": "function", "file": "/src/thread.c", "start_line": 1, "line": 7, "object": "/opt/demo/server", "call": 1, "parent": null, "self": 0, "total": 4000000, "samples": 4},
  {"name": "compress", "kind": "function", "file": "/src/zip.c", "start_line": 100, "line": 120, "object": "/opt/demo/server", "call": 2, "parent": 1, "self": 4000000, "total": 4000000, "samples": 4}],
 "without_name": []}

$ weft profile --json --off-cpu server.weft
{"files": [{"file": "server.weft", "kind": "weft trace", "samples": 11, "absences": 3, "events": true, "program": null}],
 "measured": {"event": {"name": "cpu-clock", "unit": "ns", "period": 1000000, "frequency_asked": 1000, "rate": 1375.0}, "samples": 11, "total": 11000000, "overwritten": 0, "lost": 2, "lost_other": 0, "switches_until_ns": null, "skipped": 0, "span_ns": 7800000, "threads": 2, "processes": 1, "away_ns": 2900000, "away_times": 3, "preempted_ns": 400000, "promises": true},
 "report": "off_cpu",
 "by": "function",
 "folded": false,
 "off_cpu": true,
 "shown": {"samples": 3, "total": 2900000, "without_promise": 2500000, "overwritten": 0, "not_recorded": 0, "unit": "ns"},
 "rows": [
  {"name": "schedule", "kind": "function", "file": null, "start_line": null, "line": null, "object": "[kernel]", "self": 2500000, "total": 2900000, "samples": 2},
  {"name": "(preempted)", "kind": "state", "self": 400000, "total": 400000, "samples": 1},
  {"name": "loop", "kind": "function", "file": "/src/loop.c", "start_line": 10, "line": 31, "object": "/opt/demo/server", "self": 0, "total": 2500000, "samples": 0},
  {"name": "main", "kind": "function", "file": "/src/server.c", "start_line": 80, "line": 92, "object": "/opt/demo/server", "self": 0, "total": 2500000, "samples": 0},
  {"name": "do_epoll_wait", "kind": "function", "file": null, "start_line": null, "line": null, "object": "[kernel]", "self": 0, "total": 2000000, "samples": 0},
  {"name": "poll", "kind": "function", "file": "/src/poll.c", "start_line": 1, "line": 2, "object": "/opt/demo/server", "self": 0, "total": 2000000, "samples": 0},
  {"name": "read_all", "kind": "function", "file": "/src/server.c", "start_line": 30, "line": 33, "object": "/opt/demo/server", "self": 0, "total": 500000, "samples": 0},
  {"name": "vfs_read", "kind": "function", "file": null, "start_line": null, "line": null, "object": "[kernel]", "self": 0, "total": 500000, "samples": 0},
  {"name": "compress", "kind": "function", "file": "/src/zip.c", "start_line": 100, "line": 120, "object": "/opt/demo/server", "self": 0, "total": 400000, "samples": 0},
  {"name": "start_thread", "kind": "function", "file": "/src/thread.c", "start_line": 1, "line": 7, "object": "/opt/demo/server", "self": 0, "total": 400000, "samples": 0}],
 "places": [
  {"why": "waits", "ns": 2000000, "times": 1, "stack": ["poll", "loop", "main"]},
  {"why": "waits", "ns": 500000, "times": 1, "stack": ["read_all", "loop", "main"]},
  {"why": "preempted", "ns": 400000, "times": 1, "stack": ["compress", "start_thread"]}],
 "threads": [
  {"name": "server 0", "kind": "thread", "self": 2500000, "total": 2500000, "samples": 2},
  {"name": "zipper 1", "kind": "thread", "self": 400000, "total": 400000, "samples": 1}],
 "without_name": [
  {"object": "/opt/demo/server", "why": "missing", "samples": 1, "total": 1000000}]}

$ weft profile --json --diff later.weft --limit 2 server.weft
{"report": "diff",
 "by": "function",
 "before": {"files": [{"file": "later.weft", "kind": "weft trace", "samples": 4, "absences": 0, "events": false, "program": "server --port 80"}], "measured": {"event": {"name": "cycles", "unit": "cycles", "period": null, "frequency_asked": 999, "rate": 1000.0}, "samples": 4, "total": 9600000, "overwritten": 0, "lost": 0, "lost_other": 0, "switches_until_ns": null, "skipped": 0, "span_ns": 3000000, "threads": 2, "processes": 1, "away_ns": 0, "away_times": 0, "preempted_ns": 0, "promises": false}, "shown": {"samples": 4, "total": 9600000, "without_promise": 9600000, "overwritten": 0, "not_recorded": 0, "unit": "cycles"}},
 "after": {"files": [{"file": "server.weft", "kind": "weft trace", "samples": 11, "absences": 3, "events": true, "program": null}], "measured": {"event": {"name": "cpu-clock", "unit": "ns", "period": 1000000, "frequency_asked": 1000, "rate": 1375.0}, "samples": 11, "total": 11000000, "overwritten": 0, "lost": 2, "lost_other": 0, "switches_until_ns": null, "skipped": 0, "span_ns": 7800000, "threads": 2, "processes": 1, "away_ns": 2900000, "away_times": 3, "preempted_ns": 400000, "promises": true}, "shown": {"samples": 11, "total": 11000000, "without_promise": 1000000, "overwritten": 0, "not_recorded": 0, "unit": "ns"}},
 "rows": [
  {"name": "loop", "kind": "function", "file": "/src/loop.c", "start_line": 10, "line": 31, "object": "/opt/demo/server", "before_self": 4800100, "after_self": 1000000, "before_total": 7200000, "after_total": 7000000, "before_percent": 50.001041666666666, "after_percent": 9.0909090909090917, "points": -40.910132575757572},
  {"name": "parse", "kind": "function", "file": "/src/parse.c", "start_line": 5, "line": 9, "object": "/opt/demo/server", "before_self": 2399900, "after_self": 4000000, "before_total": 2399900, "after_total": 4000000, "before_percent": 24.998958333333331, "after_percent": 36.363636363636367, "points": 11.364678030303033}]}

