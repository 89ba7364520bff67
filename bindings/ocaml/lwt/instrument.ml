(* SPDX-License-Identifier: ISC *)
(* ocaml instrument.ml DIR

   Edits the sources of Lwt 5.6 to 5.10 that lie in DIR so that Lwt tells weft about its promises. No interface
   changes. Every place is found by a few words that must stand there as often as they are known to; if they do
   not, nothing is written, and the place is named. *)

exception Unknown of string

let unknown fmt = Printf.ksprintf (fun s -> raise (Unknown s)) fmt

(* ---- Texts ---- *)

let find text part from =
  let n = String.length part in
  let rec at i =
    if i + n > String.length text then None else if String.sub text i n = part then Some i else at (i + 1)
  in
  at from

let rec places text part from =
  match find text part from with
  | None -> []
  | Some i -> i :: places text part (i + String.length part)

type file = { path : string; mutable text : string }

let read path =
  let c = try open_in_bin path with Sys_error e -> unknown "%s" e in
  let text = really_input_string c (in_channel_length c) in
  close_in c;
  { path; text }

let line_of f i =
  let n = ref 1 in
  String.iteri (fun j c -> if j < i && c = '\n' then incr n) f.text;
  !n

(* Replaces each place where [part] stands by [f] of the place. *)
let replace_each ?(times = 1) f part by =
  let all = places f.text part 0 in
  if List.length all <> times then
    unknown "%s: %S should stand there %d times, and stands there %d times" f.path part times (List.length all);
  let b = Buffer.create (String.length f.text + 1024) in
  let last =
    List.fold_left
      (fun from i ->
        Buffer.add_string b (String.sub f.text from (i - from));
        Buffer.add_string b (by i);
        i + String.length part)
      0 all
  in
  Buffer.add_string b (String.sub f.text last (String.length f.text - last));
  f.text <- Buffer.contents b

let replace ?times f part by = replace_each ?times f part (fun _ -> by)
let after ?times f part more = replace ?times f part (part ^ more)
let before ?times f part more = replace ?times f part (more ^ part)

let absent f part where =
  match find f.text part 0 with
  | None -> ()
  | Some i -> unknown "%s: line %d: %S stands there, as in %s, which is not known" f.path (line_of f i) part where

(* The first place behind the first [where], which must be there. *)
let replace_behind f where part by =
  match find f.text where 0 with
  | None -> unknown "%s: %S is not there" f.path where
  | Some i -> (
    match find f.text part i with
    | None -> unknown "%s: behind %S, %S is not there" f.path where part
    | Some j ->
      let rest = j + String.length part in
      f.text <- String.sub f.text 0 j ^ by ^ String.sub f.text rest (String.length f.text - rest))

(* The name of the function of a structure ([  let NAME] or [  let rec NAME]) that holds place [i]. *)
let function_at f i =
  let rec back i =
    if i < 0 then unknown "%s: no function holds a place" f.path
    else if i + 7 <= String.length f.text && String.sub f.text i 7 = "\n  let " then i + 7
    else back (i - 1)
  in
  let start = back i in
  let start =
    if String.length f.text > start + 4 && String.sub f.text start 4 = "rec " then start + 4 else start
  in
  let rec stop j =
    match f.text.[j] with 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' | '\'' -> stop (j + 1) | _ -> j
  in
  String.sub f.text start (stop start - start)

(* ---- Lwt itself ---- *)

let kinds =
  [
    ("wait", "wait_"); ("task", "task"); ("add_task_r", "task"); ("add_task_l", "task"); ("protected", "protected");
    ("no_cancel", "no_cancel"); ("bind", "bind"); ("backtrace_bind", "bind"); ("map", "map"); ("catch", "catch");
    ("backtrace_catch", "catch"); ("try_bind", "try_"); ("backtrace_try_bind", "try_"); ("join", "none");
    ("choose", "choose"); ("pick", "pick"); ("nchoose", "choose"); ("npick", "pick"); ("nchoose_split", "choose");
    ("on_success", "on_success"); ("on_failure", "on_failure"); ("on_termination", "on_termination");
    ("on_any", "on_any");
  ]

(* Those that are given a function [f], with which they go on. *)
let continued = [ "bind"; "backtrace_bind"; "map"; "catch"; "backtrace_catch"; "try_bind"; "backtrace_try_bind" ]

let kind_at f i =
  let name = function_at f i in
  match List.assoc_opt name kinds with
  | Some k -> "Weft_lwt." ^ k
  | None -> unknown "%s: line %d: '%s' creates promises, and I do not know it" f.path (line_of f i) name

let helpers =
  {|

(* For weft. *)
let[@inline] weft_on () = Weft_lwt.on ()

let weft_id : type a u c. (a, u, c) promise -> int = fun p ->
  match (underlying p).state with
  | Pending callbacks -> callbacks.weft
  | Fulfilled _ -> Weft_lwt.none
  | Rejected _ -> Weft_lwt.none

let weft_waits id = function
  | Propagate_cancel_to_one p -> Weft_lwt.wait id (weft_id p)
  | Propagate_cancel_to_several ps -> List.iter (fun p -> Weft_lwt.wait id (weft_id p)) ps
  | Not_cancelable | Cancel_this_promise -> ()

let weft_created kind f how =
  if kind = Weft_lwt.none then Weft_lwt.none
  else begin
    let id = Weft_lwt.create kind f in
    if id > Weft_lwt.none then weft_waits id how;
    id
  end

let weft_becomes outer inner =
  if inner.weft > Weft_lwt.none then begin
    if weft_on () then Weft_lwt.become outer.weft inner.weft;
    outer.weft <- inner.weft
  end
  else if inner.weft < Weft_lwt.loop && outer.weft > Weft_lwt.none && weft_on () then begin
    Weft_lwt.wait outer.weft inner.weft;
    Weft_lwt.relay outer.weft inner.weft
  end

(* What new_pending makes while something is recorded. *)
let weft_pending kind f how_to_cancel =
  let weft = weft_created kind f how_to_cancel in
  { state =
      Pending { regular_callbacks = Regular_callback_list_empty; cancel_callbacks = Cancel_callback_list_empty;
                how_to_cancel; cleanups_deferred = 0; weft } }

(* [p] goes on, because of the promise whose callbacks are called. *)
let weft_woken p = Weft_lwt.wake (weft_id p) !Weft_lwt.source
let[@inline] weft_wake p = if !Weft_lwt.source <> Weft_lwt.none then weft_woken p

(* [callback], with which [p] goes on. *)
let weft_wakes p callback =
  let Internal p = to_internal_promise p in
  fun result -> weft_wake p; callback result

(* A promise that does not exist before it is known that something is pending. *)
let weft_late (type u c) kind (p : (_, u, c) promise) =
  if weft_on () then
    match (underlying p).state with
    | Pending callbacks ->
      if callbacks.weft = Weft_lwt.none then callbacks.weft <- weft_created kind Weft_lwt.nothing callbacks.how_to_cancel
    | Fulfilled _ -> ()
    | Rejected _ -> ()
|}

(* Calls callbacks, because of promise [id]. *)
let calls =
  {|  (* For weft. *)
  let weft_calls id f =
    let source = !Weft_lwt.source and running = !Weft_lwt.running in
    let leave () =
      Weft_lwt.source := source;
      if !Weft_lwt.running <> running then Weft_lwt.run running
    in
    Weft_lwt.source := id;
    match f () with
    | () -> leave ()
    | exception exn -> leave (); raise exn

  let weft_run_callbacks callbacks result =
    if callbacks.weft = Weft_lwt.none then run_callbacks callbacks result
    else weft_calls callbacks.weft (fun () -> run_callbacks callbacks result)

|}

let ended =
  {|
  let weft_ended (type a) id (result : a resolved_state) =
    if !Weft_lwt.relays <> [] then Weft_lwt.relayed id;
    if id > Weft_lwt.none && weft_on () then
      match result with
      | Fulfilled _ -> Weft_lwt.fulfill id
      | Rejected Canceled -> Weft_lwt.cancel id
      | Rejected exn -> Weft_lwt.fail id exn

  let weft_resolve ?allow_deferring ?maximum_callback_nesting_depth p callbacks result =
    weft_ended callbacks.weft result;
    let p = set_promise_state p result in
    weft_calls callbacks.weft (fun () ->
      run_callbacks_or_defer_them
        ?allow_deferring ?maximum_callback_nesting_depth callbacks result);
    p

|}

(* What is made up of several promises, and is one to who reads a trace. *)
let composed =
  {|

(* For weft. *)
let weft_fan id p =
  let Internal p = to_internal_promise p in
  match (underlying p).state with
  | Pending callbacks ->
    if callbacks.weft <> Weft_lwt.none then Weft_lwt.wait id callbacks.weft;
    add_implicitly_removed_callback callbacks (fun _ ->
      if weft_on () then Weft_lwt.wake id !Weft_lwt.source)
  | Fulfilled _ -> ()
  | Rejected _ -> ()

let weft_one kind make parts =
  Weft_lwt.quiet := true;
  let p = match make () with
    | p -> Weft_lwt.quiet := false; p
    | exception e -> Weft_lwt.quiet := false; raise e
  in
  let Internal internal = to_internal_promise p in
  weft_late kind internal;
  let id = weft_id internal in
  if id > Weft_lwt.none then parts id;
  p

let both p1 p2 =
  if weft_on () then
    weft_one Weft_lwt.both (fun () -> both p1 p2) (fun id -> weft_fan id p1; weft_fan id p2)
  else both p1 p2

let all ps =
  if weft_on () then
    weft_one Weft_lwt.all (fun () -> all ps) (fun id -> List.iter (weft_fan id) ps)
  else all ps

(* What is started and not waited for: a promise of its own, that ends as [p] does. *)
let weft_follow id p =
  let Internal p = to_internal_promise p in
  match (underlying p).state with
  | Fulfilled _ -> Weft_lwt.fulfill id
  | Rejected exn -> Weft_lwt.fail id exn
  | Pending callbacks ->
    if callbacks.weft <> Weft_lwt.none then Weft_lwt.wait id callbacks.weft;
    add_implicitly_removed_callback callbacks (fun result ->
      if weft_on () then begin
        Weft_lwt.wake id !Weft_lwt.source;
        match result with
        | Fulfilled _ -> Weft_lwt.fulfill id
        | Rejected Canceled -> Weft_lwt.cancel id
        | Rejected exn -> Weft_lwt.fail id exn
      end)

let weft_started start named f =
  let id = Weft_lwt.create Weft_lwt.async (Obj.repr named) in
  let before = !Weft_lwt.running in
  Weft_lwt.run id;
  match start (fun () -> let p = f () in weft_follow id p; p) with
  | result -> Weft_lwt.run before; result
  | exception exn -> Weft_lwt.fail id exn; Weft_lwt.run before; raise exn

let async f = if weft_on () then weft_started async f f else async f
let dont_wait f h = if weft_on () then weft_started (fun f -> dont_wait f h) f f else dont_wait f h

let ignore_result p =
  if weft_on () && (let Internal q = to_internal_promise p in weft_id q <> Weft_lwt.none) then
    weft_follow (Weft_lwt.create Weft_lwt.ignore_result Weft_lwt.nothing) p;
  ignore_result p

let () =
  Weft_lwt.id_of := fun p ->
    let Internal p = to_internal_promise (Obj.obj p) in
    Weft_lwt.thing_or_promise (weft_id p)
|}

let lwt f =
  absent f "get_from_storage" "Lwt 6";
  after f "mutable cleanups_deferred : int;" " mutable weft : int;";
  after f "open Basic_helpers" helpers;
  (* Creating *)
  replace_each ~times:19 f "new_pending ~how_to_cancel:" (fun i ->
      Printf.sprintf "new_pending ~weft:%s ~weft_f:%s ~how_to_cancel:" (kind_at f i)
        (if List.mem (function_at f i) continued then "(Obj.repr f)" else "Weft_lwt.nothing"));
  replace_behind f "val new_pending :" "how_to_cancel:" "weft:int -> weft_f:Obj.t -> how_to_cancel:";
  (* Inlined, as the call would cost more than the test; these two pay for further tests. *)
  replace f "let enter_resolution_loop () =" "let[@inline] enter_resolution_loop () =";
  replace f "let run_in_resolution_loop f =" "let[@inline] run_in_resolution_loop f =";
  replace f "let new_pending ~how_to_cancel ="
    "let[@inline] new_pending ~weft ~weft_f ~how_to_cancel =\n    if weft_on () then weft_pending weft weft_f how_to_cancel else";
  replace_behind f "let[@inline] new_pending" "how_to_cancel;" "how_to_cancel; weft = Weft_lwt.none;";
  after f "how_to_cancel = Not_cancelable;" " weft = 0;";
  replace_behind f "let join ps =" "else\n          to_public_promise p'"
    "else begin\n          weft_late Weft_lwt.join p'; to_public_promise p' end";
  replace f "let p = add_task_r paused in" "Weft_lwt.as_kind Weft_lwt.pause;\n    let p = add_task_r paused in";
  (* A protected promise waits, but does not cancel what it waits for. *)
  List.iter
    (fun (name, how) ->
      replace_behind f ("let " ^ name ^ " p =") (how ^ " in")
        (how ^ " in\n      if weft_on () then Weft_lwt.wait (weft_id p') (weft_id p_internal);"))
    [ ("protected", "Cancel_this_promise"); ("no_cancel", "Not_cancelable") ];
  (* Going on *)
  List.iter
    (fun (head, times, promises) ->
      let n = ref 0 in
      replace_each ~times f head (fun i ->
          let name = function_at f i in
          match List.assoc_opt name promises with
          | Some "" -> head
          | Some p -> incr n; head ^ " weft_wake " ^ p ^ ";"
          | None -> unknown "%s: line %d: '%s' has a callback, and I do not know it" f.path (line_of f i) name))
    [
      ( "let callback p_result =", 9,
        ("protected", "p'") :: ("no_cancel", "p'") :: List.map (fun name -> (name, "")) continued );
      ("let callback new_result =", 1, [ ("join", "p'") ]);
      ( "let callback result =", 5,
        [ ("choose", "p"); ("pick", "p"); ("async", ""); ("dont_wait", ""); ("ignore_result", "") ] );
      ("let callback _result =", 3, [ ("nchoose", "p"); ("npick", "p"); ("nchoose_split", "p") ]);
    ];
  let attached = "      add_implicitly_removed_callback p_callbacks callback;\n      p''\n" in
  replace ~times:7 f attached
    ("      if p_callbacks.weft <> Weft_lwt.none then\n\
     \        add_implicitly_removed_callback p_callbacks (weft_wakes p'' callback)\n\
     \      else\n" ^ attached);
  (* Callbacks that make no promise have one in the trace. *)
  let attach = "let callback = callback_if_deferred () in\n      add_implicitly_removed_callback p_callbacks callback" in
  replace_each ~times:4 f attach (fun i ->
      Printf.sprintf
        "let callback = weft_after %s f p (callback_if_deferred ()) in\n      add_implicitly_removed_callback p_callbacks callback"
        (kind_at f i));
  before f "  let on_success p f ="
    {|  (* For weft. *)
  let weft_after kind f p callback =
    if not (weft_on ()) then callback
    else begin
      let id = Weft_lwt.create kind (Obj.repr f) in
      Weft_lwt.wait id (weft_id p);
      fun result ->
        Weft_lwt.wake id !Weft_lwt.source;
        callback result;
        Weft_lwt.fulfill id
    end

|};
  (* Ending *)
  before f "  let default_maximum_callback_nesting_depth =" calls;
  before f "  let resolve ?allow_deferring" ended;
  let resolve = "let p = set_promise_state p result in\n\n    run_callbacks_or_defer_them\n      ?allow_deferring ?maximum_callback_nesting_depth callbacks result;\n\n    p\n" in
  replace f resolve
    ("if callbacks.weft <> Weft_lwt.none then weft_resolve ?allow_deferring ?maximum_callback_nesting_depth p callbacks result else\n    "
    ^ resolve);
  let cancelled = "set_promise_state p canceled_result in" in
  after f cancelled "\n            if callbacks.weft <> Weft_lwt.none then weft_ended callbacks.weft canceled_result;";
  replace_behind f cancelled "run_callbacks_or_defer_them\n        ~allow_deferring:false callbacks canceled_result"
    "weft_calls callbacks.weft (fun () ->\n        run_callbacks_or_defer_them\n          ~allow_deferring:false callbacks canceled_result)";
  after f "outer_callbacks.how_to_cancel <- p'_callbacks.how_to_cancel;"
    {|
        if p'_callbacks.weft <> Weft_lwt.none then weft_becomes outer_callbacks p'_callbacks;|};
  (* What runs *)
  replace_behind f "let leave_resolution_loop" "run_callbacks callbacks result" "weft_run_callbacks callbacks result";
  after f "include Concurrent_composition" composed;
  replace f "let wakeup_paused () =" "let wakeup_paused () =\n    Weft_lwt.look ();";
  replace f "  val resolve :\n" "  val weft_calls : int -> (unit -> unit) -> unit\n  val weft_ended : int -> 'a resolved_state -> unit\n  val resolve :\n"

let mutex f =
  replace f "type t = { mutable locked : bool;" "type t = { mutable weft : int; mutable weft_holder : int; mutable locked : bool;";
  replace f "let create () = { locked = false;"
    {|let weft_thing m =
  if m.weft = 0 then m.weft <- Weft_lwt.thing Weft_lwt.mutex

let weft_waiter m =
  weft_thing m;
  Weft_lwt.as_place_for m.weft;
  (Lwt.add_task_r [@ocaml.warning "-3"]) m.waiters

let weft_acquired m =
  weft_thing m;
  Weft_lwt.acquire m.weft (fun p -> m.weft_holder <- p);
  Lwt.return_unit

let create () = { weft = if Weft_lwt.on () then Weft_lwt.thing ~used:false Weft_lwt.mutex else 0; weft_holder = 0; locked = false;|};
  replace f "    (Lwt.add_task_r [@ocaml.warning \"-3\"]) m.waiters"
    "    if Weft_lwt.on () then weft_waiter m else (Lwt.add_task_r [@ocaml.warning \"-3\"]) m.waiters";
  replace f "    m.locked <- true;\n    Lwt.return_unit"
    "    m.locked <- true;\n    if Weft_lwt.on () then weft_acquired m else Lwt.return_unit";
  replace f "let unlock m =\n  if m.locked then begin\n"
    {|let unlock m =
  if m.locked then begin
    if Weft_lwt.on () then begin Weft_lwt.release m.weft_holder m.weft; m.weft_holder <- 0 end;
|};
  replace f "      Lwt.wakeup_later (Lwt_sequence.take_l m.waiters) ()"
    {|begin
      if Weft_lwt.on () then Weft_lwt.grant m.weft (fun p -> m.weft_holder <- p);
      Lwt.wakeup_later (Lwt_sequence.take_l m.waiters) ()
    end|}

let condition f =
  replace f "type 'a t = 'a Lwt.u Lwt_sequence.t" "type 'a t = { weft_waiters : 'a Lwt.u Lwt_sequence.t; mutable weft : int; mutable weft_name : string }";
  replace f "let create = Lwt_sequence.create"
    {|let weft_thing c =
  if c.weft = 0 then begin
    c.weft <- Weft_lwt.thing Weft_lwt.condition;
    if c.weft_name <> "" then Weft_lwt.label c.weft c.weft_name
  end

(* MProf.Trace.named_condition and named_mvar, which has no number. *)
let () =
  Weft.Lwt_hook.name := fun thing name ->
    if Obj.size thing = 3 && Obj.is_int (Obj.field thing 1) then begin
      let c : unit t = Obj.obj thing in
      c.weft_name <- name;
      if c.weft <> 0 then Weft_lwt.label c.weft name
    end

let weft_notify c = if Weft_lwt.on () then begin weft_thing c; Weft_lwt.notify c.weft end

let create () =
  { weft_waiters = Lwt_sequence.create (); weft = (if Weft_lwt.on () then Weft_lwt.thing ~used:false Weft_lwt.condition else 0);
    weft_name = "" }|};
  replace f "let wait ?mutex cvar =\n"
    "let wait ?mutex weft_cvar =\n  let cvar = weft_cvar.weft_waiters in\n  if Weft_lwt.on () then begin weft_thing weft_cvar; Weft_lwt.as_place_for weft_cvar.weft end;\n";
  (* A promise more, which would only end as [waiter] does. *)
  before f "  Lwt.finalize\n    (fun () -> waiter)"
    "  match mutex with None when Weft_lwt.on () -> waiter | _ ->\n";
  List.iter
    (fun (name, argument) ->
      replace f
        (Printf.sprintf "let %s cvar %s =\n" name argument)
        (Printf.sprintf "let %s weft_cvar %s =\n  let cvar = weft_cvar.weft_waiters in\n  weft_notify weft_cvar;\n" name
           argument))
    [ ("signal", "arg"); ("broadcast", "arg"); ("broadcast_exn", "exn") ]

let mvar f =
  replace f "let (res, w) = Lwt.task () in" "Weft_lwt.as_kind Weft_lwt.mvar;\n    let (res, w) = Lwt.task () in";
  replace f "(Lwt.add_task_r [@ocaml.warning \"-3\"]) mvar.readers"
    "(Weft_lwt.as_kind Weft_lwt.mvar; (Lwt.add_task_r [@ocaml.warning \"-3\"]) mvar.readers)"

let pool f =
  replace f "type 'a t = {\n" "type 'a t = {\n  mutable weft : int;\n";
  replace f "  { max = m;\n"
    "  { weft = (if Weft_lwt.on () then Weft_lwt.thing ~used:false Weft_lwt.pool else 0);\n    max = m;\n";
  replace f "(Lwt.add_task_r [@ocaml.warning \"-3\"]) p.waiters >>="
    {|(if Weft_lwt.on () then begin
         if p.weft = 0 then p.weft <- Weft_lwt.thing Weft_lwt.pool;
         Weft_lwt.as_place_for p.weft
       end;
       (Lwt.add_task_r [@ocaml.warning "-3"]) p.waiters) >>=|};
  replace f "let use p f =\n  acquire p >>= fun c ->\n"
    {|let use p f =
  acquire p >>= fun c ->
  let weft_holder = ref 0 in
  if Weft_lwt.on () then begin
    if p.weft = 0 then p.weft <- Weft_lwt.thing Weft_lwt.pool;
    Weft_lwt.acquire p.weft (fun holder -> weft_holder := holder)
  end;
  let weft_release () =
    if Weft_lwt.on () then begin Weft_lwt.release !weft_holder p.weft; weft_holder := 0 end in
|};
  replace f "         check_and_release p c !cleared >>= fun () ->"
    "         weft_release ();\n         check_and_release p c !cleared >>= fun () ->";
  replace_behind f "let use p f =" "promise >>= fun _ ->" "promise >>= fun _ ->\n  weft_release ();"

let stream f =
  let kind text =
    let n = List.length (places f.text text 0) in
    if n > 0 then replace ~times:n f text ("(Weft_lwt.as_kind Weft_lwt.stream; " ^ text ^ ")")
  in
  kind "Lwt.wait ()";
  kind "Lwt.task ()"

(* ---- Lwt_unix ---- *)

let main f =
  replace f "      Lwt_engine.iter should_block_waiting_for_io;\n"
    "      Weft_lwt.sleep should_block_waiting_for_io;\n      Lwt_engine.iter should_block_waiting_for_io;\n";
  replace f "let run_already_called = ref `No\n"
    {|let run p =
  let weft = Weft_lwt.main_begins p in
  match run p with
  | result -> Weft_lwt.main_ends weft None; result
  | exception exn -> Weft_lwt.main_ends weft (Some exn); raise exn

let run_already_called = ref `No
|}

let engine f = replace ~times:3 f "let g () = f ev in" "let g () = Weft_lwt.awake (); f ev in"

let unix f =
  replace f "let sleep delay =\n  let waiter, wakener = Lwt.task () in"
    "let sleep delay =\n  Weft_lwt.as_kind Weft_lwt.sleep_;\n  let waiter, wakener = Lwt.task () in";
  replace_behind f "let run_job_aux" "let waiter, wakener = Lwt.wait () in"
    "Weft_lwt.as_kind Weft_lwt.job;\n    let waiter, wakener = Lwt.wait () in";
  after f "let listen ch cnt =\n" "  Weft_lwt.serve ();\n";
  replace f "let register_action event ch action =\n"
    "let register_action event ch action =\n  Weft_lwt.as_kind Weft_lwt.io;\n"

(* Promises that only say that a channel is being given up. *)
let io f =
  replace ~times:2 f "let abort_waiter, abort_wakener = Lwt.wait () in"
    "let abort_waiter, abort_wakener = Weft_lwt.quietly Lwt.wait () in"

let preemptive f =
  replace f "  let waiter, wakener = Lwt.wait () in\n"
    "  Weft_lwt.as_promise weft;\n  let waiter, wakener = Lwt.wait () in\n  let task = Weft_lwt.on_thread (Weft_lwt.id waiter) task in\n";
  (* It is there before a thread is free for it. *)
  before f "  get_worker () >>= fun worker ->\n" "  let weft = Weft_lwt.begun Weft_lwt.detach f in\n"

(* ---- Building ---- *)

let core_dune f =
  if places f.text "(libraries bytes)" 0 <> [] then replace f "(libraries bytes)" "(libraries bytes weft.lwt)"
  else after f " (public_name lwt)\n" " (libraries weft.lwt)\n"

let opam f = replace f "  \"ocplib-endian\"\n" "  \"ocplib-endian\"\n  \"weft\"\n"

let edits =
  [
    ("src/core/lwt.ml", lwt); ("src/core/lwt_mutex.ml", mutex); ("src/core/lwt_condition.ml", condition);
    ("src/core/lwt_mvar.ml", mvar); ("src/core/lwt_pool.ml", pool); ("src/core/lwt_stream.ml", stream);
    ("src/core/dune", core_dune); ("src/unix/lwt_main.ml", main); ("src/unix/lwt_engine.ml", engine);
    ("src/unix/lwt_unix.cppo.ml", unix); ("src/unix/lwt_preemptive.ml", preemptive); ("src/unix/lwt_io.ml", io); ("lwt.opam", opam);
  ]

let () =
  match Sys.argv with
  | [| _; dir |] -> (
    try
      let path p = Filename.concat dir p in
      if not (Sys.file_exists (path "src/core/lwt.ml")) then unknown "%s: no src/core/lwt.ml there: not Lwt's sources" dir;
      let files = List.map (fun (p, edit) -> (read (path p), edit)) edits in
      if find (fst (List.hd files)).text "Weft_lwt" 0 <> None then unknown "%s: these sources tell weft already" dir;
      List.iter (fun (f, edit) -> edit f) files;
      List.iter
        (fun (f, _) ->
          let c = open_out_bin f.path in
          output_string c f.text;
          close_out c)
        files;
      Printf.printf "%s: Lwt tells weft now (%d files changed)\n" dir (List.length files)
    with Unknown why ->
      Printf.eprintf "instrument: %s\nNothing was changed. Lwt 5.6.0 to 5.10.1 are known.\n" why;
      exit 1)
  | _ ->
    prerr_endline "Usage: ocaml instrument.ml DIR   edits the sources of Lwt 5.6 to 5.10 in DIR so that they tell weft";
    exit 2
