$ weft profile  deep.weft
deep.weft
  samples   26 of samples; none lost
  rate      10,000,000 a second got while threads ran
  over      2.5 µs, 1 thread of 1 process, 26 samples in all
  promises  none known: there are samples only, no events of promises

      self   self %    sum %       total  total %  function
         2    7.7 %    7.7 %           2    7.7 %  c  [null]
         1    3.8 %   11.5 %           1    3.8 %  0x3110 (null)
         1    3.8 %   15.4 %           1    3.8 %  0x3210 (null)
         1    3.8 %   19.2 %           1    3.8 %  a_very_long_name_such_as_those_that_templates_have_in_cpp_where_each_of_them_is_a_program_of_its_own_and_nobody_reads_it  [null]
         1    3.8 %   23.1 %           1    3.8 %  d29  [null]
         1    3.8 %   26.9 %           1    3.8 %  tabs and ]6 bells  [null]
         1    3.8 %   30.8 %           1    3.8 %  x2  [null]
         1    3.8 %   34.6 %           1    3.8 %  x4  [null]
         1    3.8 %   38.5 %           1    3.8 %  x6  [null]
         1    3.8 %   42.3 %           1    3.8 %  x8  [null]
         1    3.8 %   46.2 %           1    3.8 %  xa  [null]
         1    3.8 %   50.0 %           1    3.8 %  xc  [null]
         1    3.8 %   53.8 %           1    3.8 %  xe  [null]
         1    3.8 %   57.7 %           1    3.8 %  xg  [null]
         1    3.8 %   61.5 %           1    3.8 %  xi  [null]
         1    3.8 %   65.4 %           1    3.8 %  xk  [null]
         1    3.8 %   69.2 %           1    3.8 %  xm  [null]
         1    3.8 %   73.1 %           1    3.8 %  xo  [null]
         1    3.8 %   76.9 %           1    3.8 %  xq  [null]
         1    3.8 %   80.8 %           1    3.8 %  xs  [null]
         5   19.2 %  100.0 %                       53 more; --limit 0 shows all

Without a name: 7.7 % of all samples
     7.7 %  /dev/null: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --tree --min 0 deep.weft
deep.weft
  samples   26 of samples; none lost
  rate      10,000,000 a second got while threads ran
  over      2.5 µs, 1 thread of 1 process, 26 samples in all
  promises  none known: there are samples only, no events of promises

     total  total %   self %   calls, from the outside in
        25   96.2 %            a
        19   73.1 %            ├─ x1
        18   69.2 %            │  ├─ x3
        17   65.4 %            │  │  ├─ x5
        16   61.5 %            │  │  │  ├─ x7
        15   57.7 %            │  │  │  │  ├─ x9
        14   53.8 %            │  │  │  │  │  ├─ xb
        13   50.0 %            │  │  │  │  │  │  ├─ xd
        12   46.2 %            │  │  │  │  │  │  │  ├─ xf
        11   42.3 %            │  │  │  │  │  │  │  │  ├─ xh
        10   38.5 %            │  │  │  │  │  │  │  │  │  ├─ xj
         9   34.6 %            │  │  │  │  │  │  │  │  │  │  ├─ xl
         8   30.8 %            │  │  │  │  │  │  │  │  │  │  │  ├─ xn
         7   26.9 %            │  │  │  │  │  │  │  │  │  │  │  │  ├─ xp
         6   23.1 %            │  │  │  │  │  │  │  │  │  │  │  │  │  ├─ xr
         5   19.2 %            │  │  │  │  │  │  │  │  │  │  │  │  │  │  ├─ xt
         4   15.4 %            │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  ├─ xv
         3   11.5 %            1 … │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  ├─ xx
         2    7.7 %            2 … │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  ├─ xz
         1    3.8 %    3.8 %   3 … │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  ├─ y1
         1    3.8 %    3.8 %   3 … │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  └─ y2
         1    3.8 %    3.8 %   2 … │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  └─ xy
         1    3.8 %    3.8 %   1 … │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  └─ xw
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  └─ xu
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  │  │  │  │  │  └─ xs
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  │  │  │  │  └─ xq
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  │  │  │  └─ xo
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  │  │  └─ xm
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  │  └─ xk
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  │  └─ xi
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  │  └─ xg
         1    3.8 %    3.8 %   │  │  │  │  │  │  │  └─ xe
         1    3.8 %    3.8 %   │  │  │  │  │  │  └─ xc
         1    3.8 %    3.8 %   │  │  │  │  │  └─ xa
         1    3.8 %    3.8 %   │  │  │  │  └─ x8
         1    3.8 %    3.8 %   │  │  │  └─ x6
         1    3.8 %    3.8 %   │  │  └─ x4
         1    3.8 %    3.8 %   │  └─ x2
         6   23.1 %            └─ b
         2    7.7 %    7.7 %      ├─ a › b › a › b › c
         1    3.8 %    3.8 %      ├─ 0x3110 (null)
         1    3.8 %    3.8 %      ├─ 0x3210 (null)
         1    3.8 %    3.8 %      ├─ a_very_long_name_such_as_those_that_templates_have_in_cpp_where_each_of_them_is_a…
         1    3.8 %    3.8 %      └─ d1 › … 17 … › d19 › d20 › d21 › d22 › d23 › d24 › d25 › d26 › d27 › d28 › d29
         1    3.8 %    3.8 %   tabs and ]6 bells

Without a name: 7.7 % of all samples
     7.7 %  /dev/null: the file is not there; --sysroot DIR, if it stands below DIR

$ weft profile --no-symbols --limit 3 deep.weft
deep.weft
  samples   26 of samples; none lost
  rate      10,000,000 a second got while threads ran
  over      2.5 µs, 1 thread of 1 process, 26 samples in all
  promises  none known: there are samples only, no events of promises

      self   self %    sum %       total  total %  function
         2    7.7 %    7.7 %           2    7.7 %  c  [null]
         1    3.8 %   11.5 %           1    3.8 %  0x3110 (null)
         1    3.8 %   15.4 %           1    3.8 %  0x3210 (null)
        22   84.6 %  100.0 %                       70 more; --limit 0 shows all

Without a name: 7.7 % of all samples
     7.7 %  /dev/null: --no-symbols was given

