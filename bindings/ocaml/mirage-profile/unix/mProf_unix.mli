(* SPDX-License-Identifier: ISC *)

(** Memory for {!MProf.Trace.Control} that is a file. *)

type log_buffer =
  (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

val timestamper : log_buffer -> int -> unit
(** Writes the time there, eight bytes of nanoseconds. Not used by weft, which
    has a clock of its own. *)

val mmap_buffer : size:int -> string -> log_buffer
(** [size] bytes, at least 65536, of the file of that name, which is created or
    replaced, with mode 0600.

    @raise Unix.Unix_error if the file cannot be made. *)
