(* SPDX-License-Identifier: ISC *)
(* faults NAME good|bad: programs with one fault each, and without it. *)
open Lwt.Syntax

let bad = Array.length Sys.argv > 2 && Sys.argv.(2) = "bad"

(* An error path keeps a lock. *)
let catalogue = Lwt_mutex.create ()

let import n =
  let* () = Lwt_mutex.lock catalogue in
  let* () = Lwt_unix.sleep 0.02 in
  if bad && n = 2 then failwith "bad record";
  Lwt_mutex.unlock catalogue;
  Lwt.return_unit

let rec lookups n =
  if n = 0 then Lwt.return_unit
  else
    let* () = Lwt_mutex.with_lock catalogue (fun () -> Lwt_unix.sleep 0.005) in
    lookups (n - 1)

let lock () =
  (Lwt.async_exception_hook := fun e -> prerr_endline (Printexc.to_string e));
  Lwt.async (fun () -> let* () = Lwt_unix.sleep 0.03 in import 1);
  Lwt.async (fun () -> let* () = Lwt_unix.sleep 0.08 in import 2);
  lookups 40

(* Two locks in two orders. *)
let a = Lwt_mutex.create ()
let b = Lwt_mutex.create ()

let transfer x y after =
  let* () = Lwt_unix.sleep after in
  Lwt_mutex.with_lock x (fun () ->
      let* () = Lwt_unix.sleep 0.02 in
      Lwt_mutex.with_lock y (fun () -> Lwt_unix.sleep 0.001))

let deadlock () =
  let second = if bad then transfer b a 0.01 else transfer a b 0.01 in
  Lwt.join [ transfer a b 0.005; second ]

(* A signal before somebody waits. *)
let ready = Lwt_condition.create ()

let worker () =
  let* () = if bad then Lwt_unix.sleep 0.02 else Lwt.return_unit in
  let* () = Lwt_condition.wait ready in
  Lwt_io.printl "go"

let condition () =
  let w = worker () in
  let* () = Lwt_unix.sleep 0.01 in
  Lwt_condition.signal ready ();
  w

(* A reply that never comes. *)
let replies : (int, int Lwt.u) Hashtbl.t = Hashtbl.create 7

let call i =
  let p, u = Lwt.wait () in
  Hashtbl.add replies i u;
  p

let rec server i =
  let* () = Lwt_unix.sleep 0.01 in
  (match Hashtbl.find_opt replies i with
  | Some u when not (bad && i = 13) -> Lwt.wakeup_later u i
  | _ -> ());
  if i < 40 then server (i + 1) else Lwt.return_unit

let rec client i =
  if i > 20 then Lwt.return_unit
  else
    let* _ = call i in
    client (i + 1)

let reply () =
  Lwt.async (fun () -> server 0);
  client 1

(* One after the other, what could be done at once. *)
let fetch i =
  let* () = Lwt_unix.sleep 0.03 in
  Lwt.return i

let serial () =
  let* l = (if bad then Lwt_list.map_s else Lwt_list.map_p) fetch [ 1; 2; 3; 4; 5; 6; 7; 8 ] in
  Lwt_io.printf "%d\n" (List.length l)

(* One after the other, as it has to be. *)
let append i =
  let* () = Lwt_unix.sleep 0.03 in
  Lwt_io.printf "%d\n" i

let ordered () = Lwt_list.iter_s append [ 1; 2; 3; 4; 5; 6; 7; 8 ]

(* All are woken for one piece of work. *)
let jobs = Queue.create ()
let posted = Lwt_condition.create ()

let rec job () =
  match Queue.take_opt jobs with
  | Some n -> Lwt.return n
  | None ->
    let* () = Lwt_condition.wait posted in
    job ()

let rec work () =
  let* n = job () in
  if n < 0 then Lwt.return_unit
  else
    let* () = Lwt_unix.sleep 0.002 in
    work ()

let herd () =
  let workers = List.init 30 (fun _ -> work ()) in
  let rec post n =
    if n = 0 then Lwt.return_unit
    else
      let* () = Lwt_unix.sleep 0.004 in
      Queue.add n jobs;
      (if bad then Lwt_condition.broadcast else Lwt_condition.signal) posted ();
      post (n - 1)
  in
  let* () = post 20 in
  List.iter (fun _ -> Queue.add (-1) jobs) workers;
  Lwt_condition.broadcast posted ();
  Lwt.join workers

(* Refused, and tried again at once. *)
let rec connect n =
  let socket = Lwt_unix.socket Unix.PF_INET Unix.SOCK_STREAM 0 in
  Lwt.catch
    (fun () -> Lwt_unix.connect socket (Unix.ADDR_INET (Unix.inet_addr_loopback, 1)))
    (fun _ ->
      Unix.close (Lwt_unix.unix_file_descr socket);
      if n = 0 then Lwt.return_unit
      else if bad then connect (n - 1)
      else
        let* () = Lwt_unix.sleep 0.02 in
        connect (n - 1))

let retry () = connect (if bad then 200 else 5)

(* More for other threads than these can do. *)
let threads () =
  Lwt_preemptive.simple_init ();
  Lwt_preemptive.set_bounds (0, if bad then 2 else 60);
  let one i =
    let* () = Lwt_unix.sleep (0.005 *. float i) in
    Lwt_preemptive.detach (fun () -> Unix.sleepf (if i mod 10 = 0 then 0.25 else 0.005)) ()
  in
  Lwt_list.iter_p one (List.init 40 Fun.id)

(* A failure that nobody looks at. *)
let save i =
  let* () = Lwt_unix.sleep 0.02 in
  if bad && i = 3 then failwith "disk full" else Lwt.return_unit

let handler i =
  let _saved = save i in
  Lwt_unix.sleep 0.005

let swallowed () =
  let* () = Lwt_list.iter_p handler [ 1; 2; 3; 4; 5 ] in
  Lwt_unix.sleep 0.1

(* A server that nobody asks for anything, and that nothing stops. *)
let serve () =
  let socket = Lwt_unix.socket Unix.PF_INET Unix.SOCK_STREAM 0 in
  let* () = Lwt_unix.bind socket (Unix.ADDR_INET (Unix.inet_addr_loopback, 0)) in
  Lwt_unix.listen socket 5;
  let stopped, _ = Lwt.wait () in
  let rec accept () =
    let* _ = Lwt_unix.accept socket in
    accept ()
  in
  Lwt.pick [ accept (); stopped ]

let () =
  Lwt_main.run
    (match Sys.argv.(1) with
    | "lock" -> lock ()
    | "deadlock" -> deadlock ()
    | "condition" -> condition ()
    | "reply" -> reply ()
    | "serial" -> serial ()
    | "ordered" -> ordered ()
    | "herd" -> herd ()
    | "retry" -> retry ()
    | "threads" -> threads ()
    | "serve" -> serve ()
    | _ -> swallowed ())
