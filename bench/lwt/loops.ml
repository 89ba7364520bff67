(* SPDX-License-Identifier: ISC *)
(* loops WHAT N: N rounds of one thing that programs with Lwt do all the time. *)
open Lwt.Infix

let rec pauses n = if n = 0 then Lwt.return_unit else Lwt.pause () >>= fun () -> pauses (n - 1)

(* A promise, a bind and a map on it, and its result. *)
let rec waits n =
  if n = 0 then Lwt.return_unit
  else begin
    let p, u = Lwt.wait () in
    let r = p >>= (fun x -> Lwt.return (x + 1)) |> Lwt.map (fun x -> x + 1) in
    Lwt.wakeup u 1;
    assert (Lwt.state r = Lwt.Return 3);
    waits (n - 1)
  end

let m = Lwt_mutex.create ()

let rec locks n =
  if n = 0 then Lwt.return_unit else Lwt_mutex.with_lock m Lwt.pause >>= fun () -> locks (n - 1)

let () =
  let what = match Sys.argv.(1) with "pauses" -> pauses | "waits" -> waits | _ -> locks in
  Lwt_main.run (what (int_of_string Sys.argv.(2)))
