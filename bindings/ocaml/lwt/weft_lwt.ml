(* SPDX-License-Identifier: ISC *)

type id = int

let none = 0
let loop = -1

external flag : unit -> (int, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t = "weft_lwt_flag"

let flag = flag ()

(* Whether anything is recorded: it is looked at once in each turn of the event loop, as it costs less so, and as Lwt
   resumes whole callbacks. *)
let recording = ref false
let look () = recording := Bigarray.Array1.unsafe_get flag 0 land 1 <> 0
let () = look ()
let[@inline] on () = !recording

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
let fail p e = Weft.fail_exn (number p) e

(* ---- What runs ---- *)

let running = ref loop
let source = ref none

let run p =
  if p <> !running then begin
    running := p;
    raw_run p
  end

(* ---- Creating ---- *)

let next_kind = ref none
let quiet = ref false

(* Locks that were free when the event loop took them: the first promise that is made up of others and is created in
   that turn holds them. *)
let taken_by_loop : (id * (id -> unit)) list ref = ref []

let give_to p =
  let things = !taken_by_loop in
  taken_by_loop := [];
  List.iter
    (fun (thing, tell) ->
      raw_acquire p thing;
      tell p)
    things

let nothing = Obj.repr ()

let create kind continuation =
  if !quiet then none
  else begin
    let kind =
      if !next_kind = none then kind
      else begin
        let k = !next_kind in
        next_kind := none;
        k
      end
    in
    let p = raw_create kind continuation in
    if !taken_by_loop <> [] && p <> none then
      if !running <> loop then taken_by_loop := []
      else if kind >= bind && kind <= async then give_to p;
    p
  end

let[@inline] as_kind kind = if on () then next_kind := kind

(* What is held, and by whom. *)

(* Promises that were given something while they waited: who goes on because of them holds it. *)
let grants : (id * id * (id -> unit)) list ref = ref []

let granted p cause =
  let mine, others = List.partition (fun (waiter, _, _) -> waiter = cause) !grants in
  grants := others;
  List.iter
    (fun (_, thing, tell) ->
      raw_acquire p thing;
      tell p)
    mine

let[@inline] wake p cause =
  if p <> none then begin
    running := p;
    raw_wake p cause;
    if !grants <> [] then granted p cause
  end

let thing kind =
  if !quiet then none
  else begin
    let p = raw_create kind nothing in
    Weft.background (number p);
    p
  end

let acquire thing tell =
  if thing <> none then
    if !running = loop then taken_by_loop := (thing, tell) :: !taken_by_loop
    else begin
      raw_acquire !running thing;
      tell !running
    end

let grant waiter thing tell = if waiter <> none && thing <> none then grants := (waiter, thing, tell) :: !grants

let release holder thing =
  if holder <> none then raw_release holder thing
  else if !taken_by_loop <> [] then taken_by_loop := List.filter (fun (t, _) -> t <> thing) !taken_by_loop

(* ---- The event loop ---- *)

let sleeping = ref false

let sleep blocking =
  if on () then begin
    if !running <> loop then run loop;
    taken_by_loop := [];
    if blocking then begin
      sleeping := true;
      Weft.(suspend Wait_for_work)
    end
  end

let awake () =
  if !sleeping then begin
    sleeping := false;
    Weft.resume ();
    running := loop
  end

(* ---- Promises of Lwt ---- *)

let id_of = Weft.Lwt_hook.id
let id p = if on () then !id_of (Obj.repr p) else none

let ended p = function
  | None -> fulfill p
  | Some e -> fail p e

let main_begins p =
  look ();
  if not (on ()) then none
  else begin
    run loop;
    let m = raw_create main nothing in
    Weft.should_resolve (number m);
    wait m (!id_of (Obj.repr p));
    m
  end

let main_ends m error =
  if m <> none && on () then begin
    run loop;
    ended m error
  end

(* A task that a thread of Lwt_preemptive runs for p. *)
let on_thread p task =
  if p = none then task
  else
    fun () ->
      raw_run p;
      Fun.protect ~finally:(fun () -> raw_run loop) task
