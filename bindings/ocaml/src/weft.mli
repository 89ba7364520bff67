(* SPDX-License-Identifier: ISC *)

(** Tells weft what an asynchronous program creates, waits for and resolves.

    {[
      let rpc = Weft.kind ~pos:__POS__ "rpc"

      let reply = Weft.create ~label:"get /users/7" rpc (* created by what runs *)
      let () = Weft.wait reply (* what runs cannot continue before it is resolved *)

      (* later, in the callback of the socket *)
      let () = Weft.fulfill reply
      let () = Weft.wake request reply (* request continues and runs from now on *)
    ]}

    Nothing is recorded before {!start}, unless the program is started with
    [WEFT_TRACE=FILE] in its environment, by [weft record] or [weft ctl]. Until
    then a call looks whether there is a recording, and returns.

    Threads: all functions may be called from any thread or domain. Each OS
    thread, that is, each domain and each thread of the [threads] library, has
    its own stream in the trace, and its own running promise.

    Errors: only {!start} and {!start_in} raise, and {!kind} and {!Counter.make}
    may raise [Out_of_memory]. What could not be recorded is counted in the
    trace. Texts end at their first NUL; only the first 8192 bytes are kept.

    [kind], [parent], [resolver] … mean the same as in C: see [weft/weft.h]. *)

(** {1 Promises} *)

type id = private int
(** The number of something that is waited for and resolved once. *)

val none : id
(** 0, an untracked promise: calls with it do nothing. Promises have this number
    while nothing is recorded. *)

val loop : id
(** The event loop itself, not a promise: -1. *)

external of_int : int -> id = "%identity"
(** For the program's own numbers, see {!create_id}, or ids stored as [int]. *)

type kind
(** A place in the program where promises are created: their type, which is a
    short word, and optionally a label and the place in the source. An immediate
    value. *)

val kind : ?label:string -> ?pos:string * int * int * int -> string -> kind
(** [kind ~label ~pos:__POS__ "task"]. The label is for promises that are
    created without one. The same arguments return the same kind; it is never
    freed. The words of Lwt are [wait], [task], [bind], [map], [try],
    [choose], [pick], [join], [condition], [async] …; any others will do. *)

(** {1 Creating} *)

external create : ?label:string -> kind -> (id[@untagged])
  = "weft_ml_create_byte" "weft_ml_create"
  [@@noalloc]
(** A new promise, created by the one that runs. [label] tells it from others. *)

external create_from :
  ?label:string -> parent:(id[@untagged]) -> kind -> (id[@untagged])
  = "weft_ml_create_from_byte" "weft_ml_create_from"
  [@@noalloc]
(** A new promise, created by [parent]. *)

external create_id :
  ?label:string ->
  parent:(id[@untagged]) ->
  id:(id[@untagged]) ->
  kind ->
  (id[@untagged]) = "weft_ml_create_id_byte" "weft_ml_create_id"
  [@@noalloc]
(** For libraries that number their promises themselves: with unique numbers,
    none of them 0 or -1, for all of their promises. Returns [id], or {!none}
    while nothing is recorded. *)

(** {1 What runs} *)

external run : (id[@untagged]) -> (id[@untagged])
  = "weft_ml_run_byte" "weft_ml_run"
  [@@noalloc]
(** The promise runs on this OS thread from now on; {!loop}: the event loop.
    Returns what ran before, or {!loop} while nothing is recorded. *)

external running : unit -> (id[@untagged])
  = "weft_ml_running_byte" "weft_ml_running"
  [@@noalloc]
(** What runs on this OS thread; {!loop} while nothing is recorded. *)

external wake : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_wake_byte" "weft_ml_wake"
  [@@noalloc]
(** [wake reader p]: [reader] runs from now on, because [p] is resolved. *)

external signal : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_signal_byte" "weft_ml_signal"
  [@@noalloc]
(** [signal receiver source]: [receiver] runs from now on, because [source]
    signalled it. *)

type reason =
  | Wait_for_work  (** in poll or the like *)
  | Suspend  (** the process is stopped *)
  | Hibernate  (** the machine sleeps *)

external suspend : reason -> unit = "weft_ml_suspend" [@@noalloc]
(** Nothing runs from now on, until {!resume}: then the event loop runs. *)

external resume : unit -> unit = "weft_ml_resume" [@@noalloc]

external gc : (int[@untagged]) -> unit = "weft_ml_gc_byte" "weft_ml_gc"
  [@@noalloc]
(** A garbage collection of that many nanoseconds has just ended. Those of OCaml
    itself (minor ones, and slices of major ones) are recorded anyway. *)

(** {1 Waiting} *)

external wait : (id[@untagged]) -> unit = "weft_ml_wait_byte" "weft_ml_wait"
  [@@noalloc]
(** What runs cannot continue before the promise is resolved. It still runs. *)

external wait_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_wait_by_byte" "weft_ml_wait_by"
  [@@noalloc]
(** [wait_by reader p]: [reader] cannot continue before [p] is resolved. *)

external read : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_read_byte" "weft_ml_read"
  [@@noalloc]
(** [read reader p]: [reader] uses [p]'s result, without running now. *)

(** {1 Ending: resolved by what runs} *)

external fulfill : (id[@untagged]) -> unit
  = "weft_ml_fulfill_byte" "weft_ml_fulfill"
  [@@noalloc]
(** The promise has its result. *)

external fail : ?reason:string -> (id[@untagged]) -> unit
  = "weft_ml_fail_byte" "weft_ml_fail"
  [@@noalloc]
(** The promise ends with an error. *)

val fail_exn : id -> exn -> unit
(** It ends with this exception. Its text is made only while something is recorded. *)

external resolve : (id[@untagged]) -> unit
  = "weft_ml_resolve_byte" "weft_ml_resolve"
  [@@noalloc]
(** The promise is resolved; how is not known. *)

external cancel : (id[@untagged]) -> unit
  = "weft_ml_cancel_byte" "weft_ml_cancel"
  [@@noalloc]
(** The promise is cancelled: nobody needs it any more. *)

external forget : (id[@untagged]) -> unit
  = "weft_ml_forget_byte" "weft_ml_forget"
  [@@noalloc]
(** The promise was dropped: nobody can resolve it or wait for it any more. *)

external become : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_become_byte" "weft_ml_become"
  [@@noalloc]
(** [become p q]: from now on [p] is the same promise as [q]. *)

type ending = By_value | By_error | By_unknown | By_cancel

external resolve_by :
  ?reason:string ->
  resolver:(id[@untagged]) ->
  (id[@untagged]) ->
  ending ->
  unit = "weft_ml_resolve_by_byte" "weft_ml_resolve_by"
  [@@noalloc]
(** The promise ends, by [resolver]; [reason] is why it failed. *)

external notify : (id[@untagged]) -> unit
  = "weft_ml_notify_byte" "weft_ml_notify"
  [@@noalloc]
(** The condition is signalled, whether or not somebody waits for it. It stays
    pending. *)

external notify_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_notify_by_byte" "weft_ml_notify_by"
  [@@noalloc]
(** [notify_by notifier condition]. *)

(** {1 Holding}

    A lock, a permit of a semaphore, a connection of a pool: a promise that
    stays pending, like a condition. Whoever waits for it waits until a holder
    releases it. Several may hold it at once, and one may hold it several times,
    with one call for each. *)

external acquire : (id[@untagged]) -> unit
  = "weft_ml_acquire_byte" "weft_ml_acquire"
  [@@noalloc]
(** What runs holds the resource from now on. *)

external acquire_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_acquire_by_byte" "weft_ml_acquire_by"
  [@@noalloc]
(** [acquire_by holder resource]. *)

external release : (id[@untagged]) -> unit
  = "weft_ml_release_byte" "weft_ml_release"
  [@@noalloc]
(** What runs releases the resource, once. *)

external release_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_release_by_byte" "weft_ml_release_by"
  [@@noalloc]
(** [release_by holder resource]. *)

(** {1 Labels and hints} *)

external label : (id[@untagged]) -> string -> unit
  = "weft_ml_label_byte" "weft_ml_label"
  [@@noalloc]
(** Gives the promise a label, or a further one: what it does now. *)

external traceparent_sent : (id[@untagged]) -> string -> unit
  = "weft_ml_traceparent_sent_byte" "weft_ml_traceparent_sent"
  [@@noalloc]
(** The promise sends a request with this value of the header [traceparent] (W3C's
    Trace Context, OpenTelemetry), so it is the span that this names. A value that
    is not valid is ignored. *)

external traceparent_received : (id[@untagged]) -> string -> unit
  = "weft_ml_traceparent_received_byte" "weft_ml_traceparent_received"
  [@@noalloc]
(** The promise handles a request that came with this value: it was caused by the
    span that this names. *)

external snapshot : string -> unit = "weft_ml_snapshot" [@@noalloc]
(** What was recorded last is worth keeping, and why: [weft watch] and [weft record
    --keep] keep a copy, if they wait for that (the condition [call]). The program
    does not wait for it. *)

external should_resolve : (id[@untagged]) -> unit
  = "weft_ml_should_resolve_byte" "weft_ml_should_resolve"
  [@@noalloc]
(** The program has an error if the promise is never resolved. *)

external background : (id[@untagged]) -> unit
  = "weft_ml_background_byte" "weft_ml_background"
  [@@noalloc]
(** The promise stays pending for long intentionally: an accept loop, an idle
    timer. *)

(** A number that is drawn over time. Changes while nothing is recorded are not
    counted. *)
module Counter : sig
  type t
  (** An immediate value. *)

  external make : string -> t = "weft_ml_counter"
  (** The counter of that name; there is one for each name, for all threads. It
      is never freed. *)

  external add : t -> (int[@untagged]) -> unit
    = "weft_ml_counter_add_byte" "weft_ml_counter_add"
    [@@noalloc]

  external set : t -> (int[@untagged]) -> unit
    = "weft_ml_counter_set_byte" "weft_ml_counter_set"
    [@@noalloc]
end

(** {1 Recording} *)

external recording : unit -> bool = "weft_ml_recording" [@@noalloc]
(** Whether anything is recorded: ask before making an expensive text. *)

val start :
  ?path:string ->
  ?bytes:int ->
  ?pending_bytes:int ->
  ?paused:bool ->
  ?turn_clock:bool ->
  unit ->
  unit
(** Starts to record. [path]: the trace, [weft-%p.trace] unless given; [%p] in
    it stands for the process id. [bytes]: the size of the file, 64 MiB unless
    given, at least 64 KiB. [pending_bytes]: the part of it that is reserved for
    promises that are still pending when their packet is overwritten; a quarter
    unless given. [paused]: nothing is recorded before {!unpause}. [turn_clock]: the
    clock is read at {!suspend} and {!resume} only; events of one turn of the
    event loop have one time, and cost a third.

    @raise Sys_error
      if there is a recording already, the file cannot be created, or a number is
      out of range. A file at [path] is then left as it was. *)

type buffer =
  (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

val start_in :
  ?pending_bytes:int -> ?paused:bool -> ?turn_clock:bool -> buffer -> unit
(** Starts to record into the program's own memory, which must be 8-byte aligned
    and at least 64 KiB. Its content is a valid trace at any moment. The buffer
    is kept alive until {!stop}.

    @raise Sys_error as {!start} does. *)

val stop : unit -> unit
(** Ends the recording; the trace says so. Does nothing if there is none. *)

external pause : unit -> unit = "weft_ml_pause"
(** Interrupts the recording. Promises created until {!unpause} are untracked.
*)

external unpause : unit -> unit = "weft_ml_unpause"

external standby : bool -> unit = "weft_ml_standby"
(** Whether {!create} also returns numbers while nothing is recorded, so that a
    recording that is started later knows older promises by their numbers. *)

(** {1 Lwt} *)

(** For an Lwt that reports its promises to weft: it sets these functions when it
    starts. *)
module Lwt_hook : sig
  val id : (Obj.t -> int) ref
  (** The id of an ['a Lwt.t]. Called only while something is recorded. *)

  val name : (Obj.t -> string -> unit) ref
  (** Names an ['a Lwt_condition.t] or ['a Lwt_mvar.t]. Called even while nothing
      is recorded. *)
end

val id_of_lwt : 'a -> id
(** The id of an ['a Lwt.t]; {!none} with an Lwt that does not report to
    weft, or while nothing is recorded. *)

val name_lwt : 'a -> string -> unit
(** Names an ['a Lwt_condition.t] or ['a Lwt_mvar.t]. *)
