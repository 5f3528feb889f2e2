import type { Star } from "../../../../packages/client/src/index.ts";
import { element } from "./element.ts";
import { compareWithLedger } from "./ledger-proof.ts";
import { deadline, service } from "./service.ts";

type Publication = Star["publication"];

const STEPS: readonly Publication["state"][] = ["stored", "submitted", "published"];
/** Often at first, because a person waits; less often when the ledger is away. */
const ASK_EVERY_MS = { first: 400, most: 10_000, factor: 1.3 };

const journey = document.querySelector<HTMLElement>("[data-journey]");
if (journey !== null) void follow(journey);
const button = document.querySelector<HTMLButtonElement>("[data-compare]");
if (button !== null) wakeComparison(button);

/** Moves the mark from step to step as the message travels. */
async function follow(journey: HTMLElement): Promise<void> {
  let waitMs = ASK_EVERY_MS.first;
  while (journey.dataset.state !== "published") {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(ASK_EVERY_MS.most, waitMs * ASK_EVERY_MS.factor);
    if (document.visibilityState === "hidden") continue;
    const star = await service
      .receipt(journey.dataset.journey ?? "", deadline())
      .catch(() => undefined);
    if (star !== undefined) show(journey, star.publication);
  }
}

function show(journey: HTMLElement, publication: Publication): void {
  const reached = STEPS.indexOf(publication.state);
  journey.dataset.state = publication.state;
  for (const [index, state] of STEPS.entries()) {
    const step = journey.querySelector(`[data-step="${state}"]`);
    step?.classList.toggle("reached", index <= reached);
    if (index === reached) step?.setAttribute("aria-current", "step");
    else step?.removeAttribute("aria-current");
  }
  for (const place of document.querySelectorAll<HTMLElement>("[data-publication]")) {
    const value = publication[place.dataset.publication as keyof Publication];
    if (value !== null && value !== undefined) place.textContent = String(value);
  }
  const row = document.querySelector<HTMLAnchorElement>("[data-mirror-row]");
  if (row !== null && publication.sequenceNumber !== null) {
    const { topicId, sequenceNumber } = publication;
    row.href = `${row.dataset.mirrorRow}${topicId}/messages/${sequenceNumber}`;
    row.hidden = false;
  }
  const link = document.querySelector<HTMLAnchorElement>("[data-explorer]");
  if (link !== null && publication.consensusTimestamp !== null) {
    link.href = `${link.dataset.explorer}/transaction/${publication.consensusTimestamp}`;
    link.hidden = false;
  }
}

const UNREADABLE = "What the mirror node answered cannot be read. Try again.";

/** The button that lets this browser check for itself. */
function wakeComparison(button: HTMLButtonElement): void {
  const outcome = document.querySelector("[data-outcome]");
  button.disabled = false;
  // While it asks it stays enabled: the keyboard's focus would be lost with it.
  let isAsking = false;
  button.addEventListener("click", async () => {
    if (isAsking) return;
    isAsking = true;
    const say = (lines: readonly string[]): void => {
      const items = lines.map((line) => element("li", {}, line));
      outcome?.replaceChildren(element("ul", {}, ...items));
    };
    say(["Asking the mirror node…"]);
    const { compare: id = "", mirror = "" } = button.dataset;
    const message = document.querySelector("[data-message]")?.textContent ?? "";
    say(await compareWithLedger({ id, mirror, message }).catch(() => [UNREADABLE]));
    isAsking = false;
  });
}
