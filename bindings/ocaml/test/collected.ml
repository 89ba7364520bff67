(* Collections are recorded without any call. *)

let () =
  let p = Weft.create (Weft.kind "task") in
  ignore (Weft.run p);
  for i = 1 to 20_000 do
    ignore (Sys.opaque_identity (Array.make 100 (ref i)))
  done;
  Gc.minor ();
  ignore (Gc.major_slice 1000);
  Weft.fulfill p
