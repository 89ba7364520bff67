(* SPDX-License-Identifier: ISC *)

(** The calls of mirage-profile 0.9, so that a library that makes them is
    recorded by weft as it is. They say something of Lwt's promises only with an
    Lwt that tells weft of these (see {!Weft.Lwt_hook}); otherwise they do what
    the plain calls of Lwt do. Counters are recorded with any. *)

module Trace : sig
  val label : string -> unit
  (** A label for the promise that runs. *)

  val named_wait : string -> 'a Lwt.t * 'a Lwt.u
  (** [Lwt.wait ()], with a label. *)

  val named_task : string -> 'a Lwt.t * 'a Lwt.u
  (** [Lwt.task ()], with a label. *)

  val named_condition : string -> 'a Lwt_condition.t
  (** A condition with a label. *)

  val named_mvar_empty : string -> 'a Lwt_mvar.t
  val named_mvar : string -> 'a -> 'a Lwt_mvar.t

  val note_increase : string -> int -> unit
  (** Adds to the counter of that name; what it was before is what weft recorded
      of it. {!Counter.increase} knows its own value. *)

  val note_counter_value : string -> int -> unit
  (** The counter of that name has this value now. *)

  val should_resolve : 'a Lwt.t -> unit
  (** It is an error if the promise is never resolved. *)

  type hiatus_reason = Weft.reason = Wait_for_work | Suspend | Hibernate

  val note_hiatus : hiatus_reason -> unit
  (** The process is about to do nothing for a while. *)

  val note_resume : unit -> unit
  (** It goes on. *)

  type log_buffer =
    (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

  type timestamper = log_buffer -> int -> unit

  (** A recording into memory, which a program starts by itself. What lies there
      is a trace of weft's own format, at least 64 KiB. *)
  module Control : sig
    type t

    val make : log_buffer -> timestamper -> t
    (** The clock is weft's own, the timestamper is not called. *)

    val start : t -> unit
    (** Does nothing if weft records already, as with [weft record].

        @raise Sys_error if the memory is too small. *)

    val stop : t -> unit
    (** @raise Failure if it was not started. *)
  end
end

module Counter : sig
  type t

  val create : ?init:int -> name:string -> unit -> t
  val make : name:string -> t
  val value : t -> int
  val set_value : t -> int -> unit

  val increase : t -> int -> unit
  (** By any amount, which may be negative. *)
end
