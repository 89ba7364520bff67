(* What an Lwt does that tells weft of its promises: for annotated.ml. *)

let ids = ref []

let () =
  (Weft.Lwt_hook.id :=
     fun p ->
       match List.find_opt (fun (q, _) -> q == p) !ids with
       | Some (_, id) -> id
       | None ->
           let id = (Weft.create (Weft.kind "wait") :> int) in
           ids := (p, id) :: !ids;
           id);
  (Weft.Lwt_hook.name :=
     fun _ text -> ignore (Weft.create ~label:text (Weft.kind "condition")));
  ignore (Weft.run (Weft.create ~label:"main" (Weft.kind "task")))
