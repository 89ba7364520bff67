(* Each domain is a stream. *)

let task = Weft.kind "task"
let jobs = Weft.Counter.make "jobs"

let work n () =
  let p = Weft.create ~label:(Printf.sprintf "domain %d" n) task in
  ignore (Weft.run p);
  for i = 1 to 1000 do
    Weft.Counter.add jobs 1;
    ignore (Sys.opaque_identity (List.init 100 (fun j -> i + j)));
    assert (Weft.kind (Printf.sprintf "kind %d" i) != task);
    if Weft.recording () then assert (Weft.running () = p)
  done;
  ignore (Weft.run Weft.loop);
  Weft.fulfill p

let () = List.iter Domain.join (List.init 3 (fun n -> Domain.spawn (work n)))
