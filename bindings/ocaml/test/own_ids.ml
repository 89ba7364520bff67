(* A library that numbers its promises itself. *)

let task = Weft.kind "task"

let () =
  let id = Weft.of_int 1000 in
  let p = Weft.create_id ~label:"own" ~parent:Weft.loop ~id task in
  assert (p = if Weft.recording () then id else Weft.none);
  Weft.resolve p;
  ignore (Weft.create_id ~parent:p ~id:(Weft.of_int 1001) task)
