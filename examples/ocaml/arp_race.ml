(* SPDX-License-Identifier: ISC *)
(* arp_race good|bad|fixed [good|bad]: examples/arp_race.c as an Lwt program, without a word to weft in it.

   Before a TCP connection can be opened, ARP must find the peer's hardware address. Our ARP puts a condition "ARP
   response" into its cache, sends the query, waits until the driver says that it is sent, and only then waits for the
   condition. Mostly the driver says "sent" first. Where the response comes first, nobody waits for the condition yet, the
   signal is lost, and the connection hangs. [fixed] has a promise instead, which remembers.

     weft record -o bad.weft -- ./arp_race.exe bad; weft explain bad.weft
     weft record -o good.weft -- ./arp_race.exe good; weft diff good.weft bad.weft *)

open Lwt.Syntax

(* The cache: how one waits for the address, and what is done once it is known. *)
type response = { wait : unit -> unit Lwt.t; arrived : unit -> unit }

let forgetful () =
  let condition = Lwt_condition.create () in
  { wait = (fun () -> Lwt_condition.wait condition); arrived = (fun () -> Lwt_condition.broadcast condition ()) }

let remembering () =
  let promise, resolver = Lwt.wait () in
  { wait = (fun () -> promise); arrived = (fun () -> Lwt.wakeup_later resolver ()) }

(* The driver reports in one order or the other. *)
let send_query ~response_first response =
  let sent_after, response_after = if response_first then (0.04, 0.02) else (0.02, 0.04) in
  Lwt.async (fun () ->
      let* () = Lwt_unix.sleep response_after in
      response.arrived ();
      Lwt.return_unit);
  Lwt_unix.sleep sent_after

let arp_query ~response_first response =
  let* () = send_query ~response_first response in
  response.wait ()

let connect ~response_first response =
  let* () = arp_query ~response_first response in
  let* () = Lwt_unix.sleep 0.01 (* the handshake *) in
  Lwt_io.printl "connected"

(* What else a host does: it goes on though a connection hangs. *)
let rec tick n =
  if n = 0 then Lwt.return_unit
  else
    let* () = Lwt_unix.sleep 0.02 in
    tick (n - 1)

let main ~response_first response =
  let connection = connect ~response_first response in
  let* () = tick 10 in
  if Lwt.is_sleeping connection then begin
    prerr_endline "still waiting for the address of the peer";
    exit 1
  end;
  connection

let () =
  let order = function
    | "good" -> false
    | "bad" -> true
    | _ ->
      prerr_endline "usage: arp_race good|bad|fixed [good|bad]";
      exit 2
  in
  let response, response_first =
    match Sys.argv with
    | [| _; "fixed" |] -> (remembering (), true)
    | [| _; "fixed"; o |] -> (remembering (), order o)
    | [| _; o |] -> (forgetful (), order o)
    | _ -> (forgetful (), order "")
  in
  Lwt_main.run (main ~response_first response)
