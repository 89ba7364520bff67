(* Each thread is a stream, with a promise of its own that runs. *)

let task = Weft.kind "task"
let jobs = Weft.Counter.make "jobs"

let work n () =
  let p = Weft.create ~label:(Printf.sprintf "thread %d" n) task in
  ignore (Weft.run p);
  for _ = 1 to 100 do
    Weft.Counter.add jobs 1;
    Thread.yield ();
    if Weft.recording () then assert (Weft.running () = p)
  done;
  ignore (Weft.run Weft.loop);
  Weft.fulfill p

let () = List.iter Thread.join (List.init 3 (fun n -> Thread.create (work n) ()))
