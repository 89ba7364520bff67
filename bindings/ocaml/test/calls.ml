(* Each call once. What the trace says of it stands in tests/e2e/ocaml_binding.sh, and does not depend on whether this is
   native code or bytecode. *)

exception Odd of string

let () =
  Printexc.register_printer (function
    | Odd text ->
        print_endline "the text of an exception was made";
        Some text
    | _ -> None)

let task = Weft.kind "task"
let io = Weft.kind ~label:"usual" ~pos:("net.ml", 7, 0, 0) "io"
let queued = Weft.Counter.make "queued"

let () =
  assert (Weft.kind ~label:"usual" ~pos:("net.ml", 7, 1, 2) "io" == io);
  assert (Weft.kind ~pos:("net.ml", 7, 0, 0) "io" != io);
  assert (Weft.Counter.make "queued" == queued);
  assert (Weft.running () = Weft.loop);
  let main = Weft.create ~label:"main" task in
  assert (Weft.run main = Weft.loop);
  if Weft.recording () then assert (Weft.running () = main)
  else assert (main = Weft.none && Weft.running () = Weft.loop);
  let reply = Weft.create io in
  let other = Weft.create ~label:"unusual" io in
  let child = Weft.create_from ~label:"child" ~parent:reply task in
  let plain = Weft.create_from ~parent:child io in
  Weft.wait reply;
  Weft.wait_by child other;
  Weft.read child reply;
  Weft.fulfill reply;
  Weft.wake main reply;
  Weft.fail ~reason:"no such user" other;
  Weft.fail_exn child (Odd "odd");
  Weft.become plain (Weft.create task);
  Weft.resolve (Weft.create task);
  Weft.cancel (Weft.create task);
  Weft.forget (Weft.create task);
  Weft.fail (Weft.create task);
  let ended = Weft.create task in
  Weft.resolve_by ~resolver:main ended Weft.By_value;
  let ended = Weft.create task in
  Weft.resolve_by ~reason:"late" ~resolver:main ended Weft.By_error;
  let changed = Weft.create (Weft.kind "condition") in
  Weft.notify changed;
  Weft.notify_by main changed;
  Weft.signal main changed;
  let lock = Weft.create (Weft.kind "lock") in
  Weft.acquire lock;
  Weft.release lock;
  Weft.acquire_by changed lock;
  Weft.release_by changed lock;
  Weft.label main "a longer label \xff\000 not this";
  Weft.traceparent_received main
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Weft.traceparent_sent changed
    "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01";
  Weft.traceparent_sent changed "not valid";
  Weft.snapshot "worth keeping";
  Weft.should_resolve main;
  Weft.background changed;
  Weft.Counter.add queued 2;
  Weft.Counter.add queued (-5);
  Weft.Counter.set queued 123456789;
  Weft.gc 1234;
  Weft.gc (-1);
  Weft.suspend Weft.Wait_for_work;
  Weft.resume ();
  Weft.suspend Weft.Suspend;
  Weft.resume ();
  Weft.suspend Weft.Hibernate;
  Weft.resume ();
  assert (Weft.run main = Weft.loop);
  (* Nothing is told of what is untracked. *)
  Weft.fulfill Weft.none;
  Weft.label Weft.none "nothing";
  Weft.wait_by Weft.none Weft.none;
  assert (Weft.id_of_lwt () = Weft.none);
  Weft.pause ();
  assert (not (Weft.recording ()));
  assert (Weft.create task = Weft.none);
  Weft.unpause ();
  ignore (Weft.run Weft.loop);
  Printf.printf "recording: %b\n" (Weft.recording ())
