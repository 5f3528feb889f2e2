import type { Allowance } from "../../../actors/allowance.ts";
import type { Html } from "../console/markup.ts";

export interface StarToday {
  readonly id: string;
  /** `<type>/<id>` */
  readonly target: string;
  readonly weight: number;
}

/** Somebody who is signed in, as of this request. */
export interface Visitor {
  /** `0.0.n` */
  readonly wallet: string;
  readonly allowance: Allowance;
  /** When the pass that is in force ends, epoch milliseconds; null without one. */
  readonly premiumUntil: number | null;
  /** At most 20. */
  readonly starsToday: readonly StarToday[];
}

export interface PageRequest {
  readonly query: URLSearchParams;
  /** What `:id` in the page's path stands for, decoded; empty without one. */
  readonly id: string;
  readonly now: number;
  /** Null for somebody who is not signed in. */
  readonly visitor: Visitor | null;
}

/** A page as it is shown, without the frame that all have. */
export interface ShownPage {
  /** Without the site's name. */
  readonly title: string;
  readonly body: Html;
  /** Origins besides our own that its scripts may ask. */
  readonly connect?: readonly string[];
}

/** One page of the directory. The table of pages makes the routes and the navigation. */
export interface Page {
  /** As Hono spells it: `/events/:id`. */
  readonly path: string;
  /** Its word in the navigation; without one it is reached by links. */
  readonly nav?: string;
  /** @throws TerminalError `NOT_FOUND`, `INVALID_PARAMETER`; RetryableError `UNAVAILABLE` */
  show(request: PageRequest): Promise<ShownPage>;
}
