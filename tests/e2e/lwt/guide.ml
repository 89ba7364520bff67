(* SPDX-License-Identifier: ISC *)
(* guide good|bad: the program of the guide's two traces by mirage-profile, guide-good.ctf and guide-bad.ctf: a connection whose
   ARP query is answered after it has been sent, or before, among other things that a stack does. Its loop is its own, and
   never sleeps: what comes first is in [at]. *)

let ( >>= ) = Lwt.bind
let tcp_to_ip = MProf.Counter.make ~name:"tcp-to-ip"

(* What happens, in the order of these numbers; where they are equal, the last one first. *)
let at : (float * (unit -> unit)) list ref = ref []

let event name ms =
  let promise, resolver = MProf.Trace.named_task name in
  at := (ms, Lwt.wakeup resolver) :: !at;
  promise

let rec all = function
  | [] -> Lwt.return_unit
  | first :: others ->
    let first = Lwt.map (fun () -> ()) (event first 1.) in
    let others = all others in
    first >>= fun () -> others

let start ~sent ~received =
  let response = MProf.Trace.named_condition "ARP response" in
  Lwt.async (fun () -> Lwt.map (Lwt_condition.broadcast response) (event "netif.recv" received));
  let failing = Lwt.catch (fun () -> event "x" 2. >>= fun () -> failwith "boom") (fun _ -> Lwt.return_unit) in
  let workers = all [ "w1"; "w2"; "w3" ] in
  let d = event "d" 5. in
  let first = Lwt.choose [ event "c" 4.; d ] in
  let b = event "b" 6. in
  let picked = Lwt.pick [ event "a" 5.; b ] in
  MProf.Trace.label "ARP query";
  let connected =
    Lwt.try_bind
      (fun () -> event "ring.write" sent >>= fun () -> Lwt_condition.wait response)
      (fun () ->
        MProf.Trace.label "TCP connect";
        MProf.Counter.increase tcp_to_ip 1;
        Lwt.return_unit)
      Lwt.fail
  in
  let main = Lwt.join [ connected; picked; first; workers; failing ] in
  MProf.Trace.should_resolve main;
  main

let () =
  let sent, received = if Sys.argv.(1) = "good" then (10., 20.) else (20., 10.) in
  let main = start ~sent ~received in
  let happen (_, happens) =
    MProf.Trace.note_hiatus MProf.Trace.Wait_for_work;
    MProf.Trace.note_resume ();
    happens ()
  in
  List.iter happen (List.stable_sort (fun (a, _) (b, _) -> compare a b) !at);
  ignore (Lwt.poll main)
