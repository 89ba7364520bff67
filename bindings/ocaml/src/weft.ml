(* SPDX-License-Identifier: ISC *)

type id = int

external of_int : int -> id = "%identity"

let none = 0
let loop = -1

type kind = int

external kind_at : string option -> string option -> int -> string -> kind
  = "weft_ml_kind"

let kind ?label ?pos name =
  match pos with
  | None -> kind_at label None 0 name
  | Some (file, line, _, _) -> kind_at label (Some file) line name

external recording : unit -> bool = "weft_ml_recording" [@@noalloc]

external create : ?label:string -> kind -> (id[@untagged])
  = "weft_ml_create_byte" "weft_ml_create"
  [@@noalloc]

external create_from :
  ?label:string -> parent:(id[@untagged]) -> kind -> (id[@untagged])
  = "weft_ml_create_from_byte" "weft_ml_create_from"
  [@@noalloc]

external create_id :
  ?label:string ->
  parent:(id[@untagged]) ->
  id:(id[@untagged]) ->
  kind ->
  (id[@untagged]) = "weft_ml_create_id_byte" "weft_ml_create_id"
  [@@noalloc]

external run : (id[@untagged]) -> (id[@untagged])
  = "weft_ml_run_byte" "weft_ml_run"
  [@@noalloc]

external running : unit -> (id[@untagged])
  = "weft_ml_running_byte" "weft_ml_running"
  [@@noalloc]

external wake : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_wake_byte" "weft_ml_wake"
  [@@noalloc]

external signal : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_signal_byte" "weft_ml_signal"
  [@@noalloc]

type reason = Wait_for_work | Suspend | Hibernate

external suspend : reason -> unit = "weft_ml_suspend" [@@noalloc]
external resume : unit -> unit = "weft_ml_resume" [@@noalloc]

external gc : (int[@untagged]) -> unit = "weft_ml_gc_byte" "weft_ml_gc"
  [@@noalloc]

external wait : (id[@untagged]) -> unit = "weft_ml_wait_byte" "weft_ml_wait"
  [@@noalloc]

external wait_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_wait_by_byte" "weft_ml_wait_by"
  [@@noalloc]

external read : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_read_byte" "weft_ml_read"
  [@@noalloc]

external fulfill : (id[@untagged]) -> unit
  = "weft_ml_fulfill_byte" "weft_ml_fulfill"
  [@@noalloc]

external fail : ?reason:string -> (id[@untagged]) -> unit
  = "weft_ml_fail_byte" "weft_ml_fail"
  [@@noalloc]

let fail_text id e =
  match Printexc.to_string e with
  | reason -> fail ~reason id
  | exception _ -> fail id

let fail_exn id e = if recording () then fail_text id e

external resolve : (id[@untagged]) -> unit
  = "weft_ml_resolve_byte" "weft_ml_resolve"
  [@@noalloc]

external cancel : (id[@untagged]) -> unit
  = "weft_ml_cancel_byte" "weft_ml_cancel"
  [@@noalloc]

external forget : (id[@untagged]) -> unit
  = "weft_ml_forget_byte" "weft_ml_forget"
  [@@noalloc]

external become : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_become_byte" "weft_ml_become"
  [@@noalloc]

type ending = By_value | By_error | By_unknown | By_cancel

external resolve_by :
  ?reason:string ->
  resolver:(id[@untagged]) ->
  (id[@untagged]) ->
  ending ->
  unit = "weft_ml_resolve_by_byte" "weft_ml_resolve_by"
  [@@noalloc]

external notify : (id[@untagged]) -> unit
  = "weft_ml_notify_byte" "weft_ml_notify"
  [@@noalloc]

external notify_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_notify_by_byte" "weft_ml_notify_by"
  [@@noalloc]

external acquire : (id[@untagged]) -> unit
  = "weft_ml_acquire_byte" "weft_ml_acquire"
  [@@noalloc]

external acquire_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_acquire_by_byte" "weft_ml_acquire_by"
  [@@noalloc]

external release : (id[@untagged]) -> unit
  = "weft_ml_release_byte" "weft_ml_release"
  [@@noalloc]

external release_by : (id[@untagged]) -> (id[@untagged]) -> unit
  = "weft_ml_release_by_byte" "weft_ml_release_by"
  [@@noalloc]

external label : (id[@untagged]) -> string -> unit
  = "weft_ml_label_byte" "weft_ml_label"
  [@@noalloc]

external traceparent_sent : (id[@untagged]) -> string -> unit
  = "weft_ml_traceparent_sent_byte" "weft_ml_traceparent_sent"
  [@@noalloc]

external traceparent_received : (id[@untagged]) -> string -> unit
  = "weft_ml_traceparent_received_byte" "weft_ml_traceparent_received"
  [@@noalloc]

external snapshot : string -> unit = "weft_ml_snapshot" [@@noalloc]

external should_resolve : (id[@untagged]) -> unit
  = "weft_ml_should_resolve_byte" "weft_ml_should_resolve"
  [@@noalloc]

external background : (id[@untagged]) -> unit
  = "weft_ml_background_byte" "weft_ml_background"
  [@@noalloc]

external collections : unit -> unit = "weft_ml_collections"

let () = collections ()

module Counter = struct
  type t = int

  external make : string -> t = "weft_ml_counter"

  external add : t -> (int[@untagged]) -> unit
    = "weft_ml_counter_add_byte" "weft_ml_counter_add"
    [@@noalloc]

  external set : t -> (int[@untagged]) -> unit
    = "weft_ml_counter_set_byte" "weft_ml_counter_set"
    [@@noalloc]
end

type buffer =
  (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

external start_with :
  string option -> buffer option -> int -> int -> int -> unit = "weft_ml_start"

(* Where the recording lies, which must not be collected before it ends. *)
let kept : buffer option ref = ref None

let flags paused turn_clock =
  (if paused then 1 else 0) lor if turn_clock then 2 else 0

let start ?path ?(bytes = 0) ?(pending_bytes = 0) ?(paused = false)
    ?(turn_clock = false) () =
  start_with path None bytes pending_bytes (flags paused turn_clock)

let start_in ?(pending_bytes = 0) ?(paused = false) ?(turn_clock = false) memory
    =
  start_with None (Some memory) 0 pending_bytes (flags paused turn_clock);
  kept := Some memory

external stop_recording : unit -> unit = "weft_ml_stop"

let stop () =
  stop_recording ();
  kept := None

external pause : unit -> unit = "weft_ml_pause"
external unpause : unit -> unit = "weft_ml_unpause"
external standby : bool -> unit = "weft_ml_standby"

module Lwt_hook = struct
  let id : (Obj.t -> int) ref = ref (fun _ -> none)
  let name : (Obj.t -> string -> unit) ref = ref (fun _ _ -> ())
end

let id_of_lwt p = if recording () then !Lwt_hook.id (Obj.repr p) else none
let name_lwt thing text = !Lwt_hook.name (Obj.repr thing) text
