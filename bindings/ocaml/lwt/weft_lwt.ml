(* SPDX-License-Identifier: ISC *)
(* What an Lwt that instrument.ml has edited calls, on the thread that runs Lwt's main loop. Numbers of promises are plain
   integers here: 0 is none, -1 the loop. A smaller number, found only in Lwt's own records, is a place in the queue for
   the resource [lnot n]. *)

type id = int

let none = 0
let loop = -1

external flag : unit -> (int, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t = "weft_lwt_flag"

let flag = flag ()

(* Whether anything is recorded: looked up once in each turn of the event loop. That costs less, and a turn is recorded
   either completely or not at all. *)
let recording = ref 0
let[@inline] look () = recording := Bigarray.Array1.unsafe_get flag 0 land 1
let () = look ()
let[@inline] on () = !recording <> 0

(* Kinds: as in weft_lwt_stubs.c. *)
let wait_ = 1
let task = 2
let bind = 3
let map = 4
let catch = 5
let try_ = 6
let choose = 7
let pick = 8
let join = 9
let both = 10
let all = 11
let protected = 12
let no_cancel = 13
let async = 14
let ignore_result = 15
let on_success = 16
let on_failure = 17
let on_termination = 18
let on_any = 19
let pause = 20
let sleep_ = 21
let io = 22
let job = 23
let detach = 24
let main = 25
let mutex = 26
let condition = 27
let mvar = 28
let pool = 29
let stream = 30

external raw_create : (int[@untagged]) -> Obj.t -> (int[@untagged]) = "weft_lwt_create_byte" "weft_lwt_create"

(* Module Weft, with numbers that are known to be integers. *)
let[@inline] number p = Weft.of_int p
let[@inline] raw_run p = ignore (Weft.run (number p))
let[@inline] raw_wake p q = Weft.wake (number p) (number q)
let[@inline] raw_acquire p q = Weft.acquire_by (number p) (number q)
let[@inline] raw_release p q = Weft.release_by (number p) (number q)
let[@inline] wait p q = Weft.wait_by (number p) (number q)
let[@inline] become p q = Weft.become (number p) (number q)
let[@inline] fulfill p = Weft.fulfill (number p)
let[@inline] cancel p = Weft.cancel (number p)
let[@inline] notify p = Weft.notify (number p)
let label p text = Weft.label (number p) text
let fail p e = Weft.fail_exn (number p) e

(* ---- What runs ---- *)

let running = ref loop
let source = ref none

(* The loop sleeps, according to the last event. It wakes up when a callback is called: an engine that has nothing to wait
   for returns at once, again and again, and that is not worth two events each time. *)
let sleeping = ref false

let awake () =
  if !sleeping then begin
    sleeping := false;
    Weft.resume ();
    running := loop
  end

let run p =
  if !sleeping then awake ();
  if p <> !running then begin
    running := p;
    raw_run p
  end

(* ---- Creating ---- *)

(* The kind of the next promise; 0: the one that its creator gives. *)
let next_kind = ref none
let[@inline] as_kind kind = if on () then next_kind := kind

(* The number of the next promise, if it was created before. *)
let next_promise = ref none
let as_promise p = next_promise := p

(* While true, nothing that is created appears as a promise in the trace. *)
let quiet = ref false
let nothing = Obj.repr ()

let only_of_program = 256

(* Of the promises that Lwt's modules create when they start, only those that are used are recorded. *)
let thing ?(used = true) kind =
  let kind = if used then kind else kind + only_of_program in
  let p = if !quiet then none else raw_create kind nothing in
  if kind land 255 <> condition then Weft.background (number p);
  p

(* An Lwt promise that is only a place in the queue of a lock or a condition is not a promise in the trace: whoever waits
   for it waits for the lock. Its number is that of the lock, complemented. *)
let next_place = ref none
let as_place_for thing = if thing <> none then next_place := lnot thing
let[@inline] thing_or_promise p = if p < loop then lnot p else p
let wait p q = wait p (thing_or_promise q)

(* ---- Who holds what ---- *)

(* For whoever continues because of the promise: the lock it then holds, and a function to call with the holder. *)
let grants : (id * (id * (id -> unit))) list ref = ref []
let hold p (thing, tell) =
  raw_acquire p thing;
  tell p

let grant thing tell = if thing <> none then grants := (lnot thing, (thing, tell)) :: !grants

let granted p cause =
  match List.assoc_opt cause !grants with
  | None -> ()
  | Some what ->
    grants := List.remove_assoc cause !grants;
    hold p what

(* Promises that end together with a place in a queue, because their function returned that place. *)
let relays : (id * id) list ref = ref []
let relay p place = relays := (p, place) :: !relays

let relayed p =
  match List.assoc_opt p !relays with
  | None -> ()
  | Some place -> (
    relays := List.remove_assoc p !relays;
    match List.assoc_opt place !grants with
    | None -> ()
    | Some what -> grants := (p, what) :: List.remove_assoc place !grants)

(* Locks that were free when the event loop took them, as happens in a function that is called before Lwt_main.run. The
   next promise that combines others holds them, if it is created in the same turn. *)
let taken_by_loop : (id * (id -> unit)) list ref = ref []

let acquire thing tell =
  if thing <> none then
    if !running = loop then taken_by_loop := (thing, tell) :: !taken_by_loop else hold !running (thing, tell)

let release holder thing =
  if holder <> none then raw_release holder thing
  else if !taken_by_loop <> [] then taken_by_loop := List.filter (fun (t, _) -> t <> thing) !taken_by_loop

(* ---- Creating, and going on ---- *)

let create kind continuation =
  if !next_place <> none then begin
    let place = !next_place in
    next_place := none;
    place
  end
  else if !next_promise <> none then begin
    let p = !next_promise in
    next_promise := none;
    p
  end
  else if !quiet then none
  else begin
    if !sleeping then awake ();
    let kind = if !next_kind = none then kind else !next_kind in
    next_kind := none;
    let p = raw_create kind continuation in
    if !taken_by_loop <> [] && p <> none then begin
      let things = !taken_by_loop in
      if !running <> loop then taken_by_loop := []
      else if kind >= bind && kind <= async then begin
        taken_by_loop := [];
        List.iter (hold p) things
      end
    end;
    p
  end

(* A promise that continues with [f] as soon as the loop gets to it. *)
let begun kind f = if on () then create kind (Obj.repr f) else none

let wake p cause =
  if p > none then begin
    if !sleeping then awake ();
    running := p;
    if cause < loop then Weft.signal (number p) (number (lnot cause)) else raw_wake p cause;
    if !grants <> [] then granted p cause
  end

let quietly make argument =
  quiet := true;
  let p = make argument in
  quiet := false;
  p

(* ---- The event loop ---- *)

let goes_to_sleep blocking =
  if !running <> loop then run loop;
  taken_by_loop := [];
  if blocking && not !sleeping then begin
    sleeping := true;
    Weft.(suspend Wait_for_work)
  end

let[@inline] sleep blocking = if on () then goes_to_sleep blocking

(* ---- Promises of Lwt ---- *)

let id_of = Weft.Lwt_hook.id
let id p = if on () then !id_of (Obj.repr p) else none

let ended p = function
  | None -> fulfill p
  | Some e -> fail p e

(* What Lwt_main.run runs. Code that calls exit in it no longer needs it. *)
let running_main = ref none

let () =
  at_exit (fun () ->
      if !running_main <> none && on () then cancel !running_main;
      running_main := none)

(* A server's main promise stays pending for as long as the program runs, intentionally. *)
let serving = ref false

let serve () =
  serving := true;
  if !running_main <> none && on () then Weft.background (number !running_main)

let main_begins p =
  look ();
  if not (on ()) then none
  else begin
    run loop;
    let m = raw_create main nothing in
    if !serving then Weft.background (number m) else Weft.should_resolve (number m);
    wait m (!id_of (Obj.repr p));
    if !running_main = none then running_main := m;
    m
  end

let main_ends m error =
  if m = !running_main then running_main := none;
  if m <> none && on () then begin
    run loop;
    ended m error;
    Weft.read Weft.loop (number m) (* who called Lwt_main.run *)
  end

(* A task that a thread of Lwt_preemptive runs for p. *)
let on_thread p task =
  if p = none then task
  else
    fun () ->
      raw_run p;
      Fun.protect ~finally:(fun () -> raw_run loop) task
