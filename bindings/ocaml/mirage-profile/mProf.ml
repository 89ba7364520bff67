(* SPDX-License-Identifier: ISC *)

module Trace = struct
  let label text = if Weft.recording () then Weft.label (Weft.running ()) text

  let labelled text ((promise, _) as pair) =
    if Weft.recording () then Weft.label (Weft.id_of_lwt promise) text;
    pair

  let named_wait text = labelled text (Lwt.wait ())
  let named_task text = labelled text (Lwt.task ())

  let named text thing =
    Weft.name_lwt thing text;
    thing

  let named_condition text = named text (Lwt_condition.create ())
  let named_mvar_empty text = named text (Lwt_mvar.create_empty ())
  let named_mvar text v = named text (Lwt_mvar.create v)

  let note_increase name amount =
    if Weft.recording () then Weft.Counter.(add (make name) amount)

  let note_counter_value name n =
    if Weft.recording () then Weft.Counter.(set (make name) n)

  let should_resolve promise =
    if Weft.recording () then Weft.should_resolve (Weft.id_of_lwt promise)

  type hiatus_reason = Weft.reason = Wait_for_work | Suspend | Hibernate

  let note_hiatus reason = Weft.suspend reason
  let note_resume () = Weft.resume ()

  type log_buffer = Weft.buffer
  type timestamper = log_buffer -> int -> unit

  module Control = struct
    type state =
      | Idle
      | Recording
      | Elsewhere  (** who started the program records *)

    type t = { buffer : log_buffer; mutable state : state }

    let make buffer (_ : timestamper) = { buffer; state = Idle }

    let start t =
      if Weft.recording () then t.state <- Elsewhere
      else (
        Weft.start_in t.buffer;
        t.state <- Recording)

    let stop t =
      (match t.state with
      | Idle -> failwith "MProf.Trace.Control.stop: this one does not record"
      | Recording -> Weft.stop ()
      | Elsewhere -> ());
      t.state <- Idle
  end
end

module Counter = struct
  type t = { counter : Weft.Counter.t; mutable value : int }

  let create ?(init = 0) ~name () =
    { counter = Weft.Counter.make name; value = init }

  let make ~name = create ~name ()
  let value t = t.value

  let set_value t n =
    t.value <- n;
    Weft.Counter.set t.counter n

  let increase t amount = set_value t (t.value + amount)
end
