// SPDX-License-Identifier: ISC
// The tour: the example trace, which every page brings, and the card with what its steps show (explore/tour.h).

const EXAMPLE = "example.weft";

// A page that was opened for the tour shows the example instead of its own traces.
const isForTour = new URLSearchParams(location.search).has("tour");

async function exampleFile() {
  const parts = [];
  await unpack($("example").textContent.trim(), part => { parts.push(part); });
  return new File(parts, EXAMPLE);
}

const openExample = () => openFiles([{ name: EXAMPLE, get: exampleFile }], false);

// Traces that are open stay: the tour then gets a tab of its own.
function takeTour() {
  if (C.weft_is_example(0))
    go("tour=1");
  else if (!C.weft_panes())
    run(async () => {
      await openExample();
      go("tour=1");
      canvas.focus();
    });
  else if (window.open(`${location.href.split(/[?#]/)[0]}?tour`))
    say("The tour is in a tab of its own");
  else
    say("The browser opens no other tab. Load this page again with ?tour at the end of its address.", true);
}

function showCard() {
  const step = C.weft_tour();
  $("card").hidden = !step;
  if (!step)
    return;
  const { title, text } = structures(C.weft_tour_steps.value, L.WEFT_TOUR_STEPS, "weft_tour_step", { title: "text", text: "text" })[step - 1];
  $("card-title").textContent = `${step} of ${L.WEFT_TOUR_STEPS}: ${title}`;
  $("card-text").textContent = text;
  $("tour-previous").disabled = step === 1;
  $("tour-next").hidden = step === L.WEFT_TOUR_STEPS;
  $("tour-leave").textContent = step === L.WEFT_TOUR_STEPS ? "Done" : "Leave";
}
