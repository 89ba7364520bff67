(* Tests that need no weft command: without a recording nothing happens; recordings that the program starts itself. *)

let task = Weft.kind "task"

let refused start =
  match start () with
  | () -> failwith "was not refused"
  | exception Sys_error why -> why

let buffer bytes = Bigarray.(Array1.create char c_layout bytes)

let size path =
  let file = open_in_bin path in
  let n = in_channel_length file in
  close_in file;
  n

let () =
  (* Not recorded: no memory of OCaml's is used. *)
  let allocated = Gc.minor_words () in
  for i = 1 to 1000 do
    let p = Weft.create ~label:"x" task in
    ignore (Weft.run p);
    Weft.wait p;
    Weft.label p "text";
    Weft.snapshot "why";
    Weft.fail_exn p Exit;
    Weft.resolve_by ~resolver:p p Weft.By_value;
    Weft.suspend Weft.Wait_for_work;
    Weft.gc i
  done;
  if Sys.backend_type = Sys.Native then
    assert (Gc.minor_words () -. allocated < 100.);
  (* Numbers without a recording. *)
  Weft.standby true;
  let early = Weft.create task in
  assert (early <> Weft.none && early <> Weft.create task);
  Weft.standby false;
  assert (Weft.create task = Weft.none);
  (* A file. *)
  Weft.start ~path:"alone.trace" ~bytes:262144 ~pending_bytes:65536
    ~turn_clock:true ();
  assert (Weft.recording ());
  assert (Weft.create task <> Weft.none);
  let again = refused (fun () -> Weft.start ~path:"other.trace" ()) in
  assert (String.length again > 13 && String.sub again 0 12 = "other.trace:");
  assert (not (Sys.file_exists "other.trace"));
  Weft.stop ();
  Weft.stop ();
  assert (not (Weft.recording ()));
  assert (size "alone.trace" > 0 && size "alone.trace" <= 262144);
  (* Paused. *)
  Weft.start ~path:"alone.trace" ~bytes:262144 ~paused:true ();
  assert (not (Weft.recording ()));
  Weft.unpause ();
  assert (Weft.recording ());
  Weft.stop ();
  (* Memory. *)
  let memory = buffer 262144 in
  Bigarray.Array1.fill memory '\000';
  Weft.start_in memory;
  ignore (Weft.create ~label:"in memory" task);
  Gc.compact ();
  Weft.stop ();
  assert (Bigarray.Array1.get memory 0 <> '\000');
  ignore (refused (fun () -> Weft.start_in (buffer 1000)));
  ignore (refused (fun () -> Weft.start ~path:"/no/such/folder/x" ()));
  ignore (refused (fun () -> Weft.start ~path:"x" ~bytes:1 ()));
  Sys.remove "alone.trace"
