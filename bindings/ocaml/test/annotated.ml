(* A library and its program as they were written for mirage-profile. *)

open MProf

let ( >>= ) = Lwt.bind
let tx = Counter.make ~name:"tx"
let credits = Counter.create ~init:5 ~name:"credits" ()

let connect () =
  let reply, got = Trace.named_wait "ARP response" in
  let never, _ = Trace.named_task "never" in
  let changed : unit Lwt_condition.t = Trace.named_condition "changed" in
  let full = Trace.named_mvar "full" 1 in
  let empty = Trace.named_mvar_empty "empty" in
  Trace.label "connect";
  Trace.should_resolve never;
  Counter.increase tx 3;
  Counter.increase tx (-1);
  Counter.set_value credits 9;
  Trace.note_increase "plain" 4;
  Trace.note_counter_value "plain" 40;
  assert (Counter.value tx = 2 && Counter.value credits = 9);
  let both =
    Lwt_mvar.take full >>= fun n ->
    Lwt_mvar.put empty n >>= fun () -> reply
  in
  let waiting = Lwt_condition.wait changed in
  Lwt.wakeup got ();
  Lwt_condition.signal changed ();
  assert (Lwt.state both = Lwt.Return () && Lwt.state waiting = Lwt.Return ());
  Lwt.cancel never

let () =
  Trace.note_hiatus Trace.Wait_for_work;
  Trace.note_resume ();
  if Array.length Sys.argv > 1 then (
    let buffer = MProf_unix.mmap_buffer ~size:1000000 Sys.argv.(1) in
    let control = Trace.Control.make buffer MProf_unix.timestamper in
    Trace.Control.start control;
    connect ();
    Trace.Control.stop control;
    match Trace.Control.stop control with
    | () -> assert false
    | exception Failure _ -> ())
  else connect ()
