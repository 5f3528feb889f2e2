import { html, section } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { BOARD_PATH, QUEUES } from "../queue-board.ts";

/** What BullMQ's queues are for, and the way to them: they are wake-ups and hand-offs. */
export function queuesPage({ board }: Pick<PagesDeps, "board">): Page {
  const way =
    board === undefined
      ? html`<p class="notice" role="status">There are no queues here: this Redis is not fit for BullMQ. Web and worker are one process and wake each other directly, and stars for rewards wait in Postgres.</p>`
      : html`<p><a class="button" href="${BOARD_PATH}">Open Bull Board</a></p>`;
  const body = html`<p class="lead">If the queues are emptied no star is lost: Postgres knows what must be published, checked or offered to rewards.</p>
${way}
${QUEUES.map(({ name, purpose }) => section(name, html`<p>${purpose}</p>`))}`;
  return {
    path: "/queues",
    nav: ["Upkeep", "Queues"],
    show: async () => ({ title: "Queues", body }),
  };
}
