$ weft profile  later.weft
later.weft: server --port 80
  samples   4 of cycles; none lost
  rate      999 a second asked for, 1,000 a second got while threads ran
  over      3 ms, 2 threads of 1 process, 9.60 M cycles in all
  promises  none known: there are samples only, no events of promises

      self   self %    sum %       total  total %  function
    4.80 M   50.0 %   50.0 %      7.20 M   75.0 %  loop  loop.c:10
    2.40 M   25.0 %   75.0 %      2.40 M   25.0 %  compress  zip.c:100
    2.40 M   25.0 %  100.0 %      2.40 M   25.0 %  parse  parse.c:5
         0    0.0 %  100.0 %      7.20 M   75.0 %  main  server.c:80
         0    0.0 %  100.0 %      2.40 M   25.0 %  serve  server.c:40

$ weft profile --by label later.weft
weft: later.weft: --by label needs to know which promise ran, but there are no events of promises; record both: weft record --sample -- PROGRAM
exit status 1

$ weft profile --off-cpu later.weft
weft: later.weft: it does not say when threads waited: switches between threads were not recorded; weft sample and weft record --sample do that unless --no-switches is given, perf record with --switch-events
exit status 1

$ weft profile server.weft later.weft
server.weft
later.weft: server --port 80
  samples   11 of cpu-clock, one for each 1 ms of CPU time; 2 more (15.4 %) were lost, for lack of
            space
  rate      1,000 a second asked for, 1,375 a second got while threads ran
  over      7.8 ms, 2 threads of 1 process, 11 ms of CPU time: 1.41 cores busy
  promises  10 ms (90.9 %) for promises, 1 ms (9.1 %) for none
  others    there are also samples of cycles; --event NAME shows those

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

