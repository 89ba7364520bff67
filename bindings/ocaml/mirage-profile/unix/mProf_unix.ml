(* SPDX-License-Identifier: ISC *)

type log_buffer =
  (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

let timestamper buffer offset =
  let ns = Int64.of_float (Unix.gettimeofday () *. 1e9) in
  for i = 0 to 7 do
    let byte = Int64.(to_int (shift_right_logical ns (8 * i))) land 255 in
    Bigarray.Array1.set buffer (offset + i) (Char.chr byte)
  done

let mmap_buffer ~size path =
  let flags = Unix.[ O_RDWR; O_CREAT; O_TRUNC; O_CLOEXEC ] in
  let fd = Unix.openfile path flags 0o600 in
  Fun.protect
    ~finally:(fun () -> Unix.close fd)
    (fun () ->
      Unix.ftruncate fd size;
      Bigarray.array1_of_genarray
        (Unix.map_file fd Bigarray.char Bigarray.c_layout true [| size |]))
