import type { Context } from "hono";
import type { Clock } from "../../clock.ts";
import type { Resting } from "../../hosting/show-actor.ts";
import type { RefusalTrail } from "../../journal/refusal-trail.ts";
import type { OperatorSession } from "../../keys/operator-session.ts";
import type { Role } from "../../keys/operators.ts";
import type { Logger } from "../../log.ts";
import type { ActEnd } from "../../store/operator-log.ts";
import type { Sql } from "../../store/postgres.ts";
import type { HoldingsCheckByHand } from "../../upkeep/holdings-check/by-hand.ts";
import type { ClientAddress } from "../middleware/client-address.ts";
import type { OperatorAccess } from "../operator-access.ts";
import type { DecisionFeed } from "./decisions.ts";
import type { Html } from "./markup.ts";
import type { Numbers } from "./numbers.ts";
import type { QueueBoard } from "./queue-board.ts";

/** What the console itself needs; its pages have needs of their own. */
export interface ConsoleDeps {
  /** Of `environment`; without one named operators alone sign in. */
  readonly operatorToken: string | undefined;
  readonly publicUrl: string;
  /** The console's own small pool. */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  readonly access: OperatorAccess;
  readonly client: ClientAddress;
  /** How many requests a client that is not signed in may send in 60 s. */
  readonly guestRateLimit: number;
  /** `mainnet`, `local`: operators of several networks must see which this is. */
  readonly network: string;
  /** Whether the topics hold stars that the journal lacks: every page says so. */
  readonly isBehind?: () => boolean;
  /** Absent where no Redis is fit for BullMQ. */
  readonly board?: QueueBoard | undefined;
}

export interface PagesDeps extends Pick<ConsoleDeps, "sql" | "clock" | "network" | "board"> {
  /** One whose statements may take their time. */
  readonly patientSql: Sql;
  readonly checks: HoldingsCheckByHand;
  /** Wakes the publishers. */
  readonly wake: () => void;
  readonly resting: Resting;
  readonly refusals: RefusalTrail;
  /** Base of the explorer's pages (`EXPLORER_URL`); null where there is none. */
  readonly explorer: string | null;
  readonly isDraining: () => boolean;
  /** What the overview shows, as of an instant in epoch milliseconds. */
  readonly readNumbers: (now: number) => Promise<Numbers>;
  /** Decisions as they are made. */
  readonly feed: DecisionFeed;
}

export interface PageRequest {
  readonly query: URLSearchParams;
  /** What the `*` of the page's path stands for, decoded; empty without one. */
  readonly rest: string;
  readonly now: number;
  readonly session: OperatorSession;
  /** The role that an action needs and this operator has not; null where they may do it. */
  readonly lacksRoleFor: (actionPath: string) => Role | null;
  /** Whether the session still stands: streams outlive the look at the door. */
  readonly isSignedIn: () => Promise<boolean>;
  /** For replies that are no pages: streams, raw JSON. */
  readonly context: Context;
  /** Stands in every form, as the hidden field `token`: see `formToken`. */
  readonly formToken: string;
  /** Set where a form of this page was refused: it is shown again as it was filled in. */
  readonly refused?: RefusedForm | undefined;
}

/** A form that makes no sense, and why. */
export interface RefusedForm {
  /** Path of the action it was sent to, below `/ops`. */
  readonly path: string;
  readonly form: URLSearchParams;
  /** One sentence. */
  readonly text: string;
  /** The field that is wrong, where it is one. */
  readonly field: string | undefined;
}

/** A page as it is shown, without the frame that all have. */
export interface ShownPage {
  readonly title: string;
  readonly body: Html;
  /** True where there is nothing under this address: answered 404. */
  readonly isMissing?: boolean;
}

/**
 * One page of the console. The table of pages (`pages.ts`) makes the routes and the navigation.
 */
export interface Page {
  /** Below `/ops`: ``, `/actors`, `/actors/*`. */
  readonly path: string;
  /** Its part of the navigation and its word there; without them it is reached by links. */
  readonly nav?: readonly [part: "Watch" | "Upkeep" | "Manage" | "Access", word: string];
  /** The page whose word is marked in the navigation while this one is shown; itself when absent. */
  readonly below?: string;
  /** True where scripts ask by themselves: that keeps no session alive. */
  readonly isQuiet?: boolean;
  /** @throws TerminalError for a request that makes no sense, RetryableError `UNAVAILABLE` */
  show(request: PageRequest): Promise<ShownPage | Response>;
  readonly actions?: readonly Action[];
}

interface ActionRequest {
  readonly form: URLSearchParams;
  readonly session: OperatorSession;
}

/**
 * Something an operator does, by a form with `method="post"`. The frame checks the session, the
 * origin and the form's token, and writes the operator log before and after.
 */
export interface Action {
  /** Below `/ops`: `/keys/revoke`. */
  readonly path: string;
  readonly role: Role;
  /** What it is about, for the log; nothing secret. @throws TerminalError for a form that makes no sense */
  subject(form: URLSearchParams): string;
  /** Why it is done, where its form asks. */
  reason?(form: URLSearchParams): string;
  /**
   * @throws TerminalError, RetryableError: their sentence is shown and logged; a terminal error
   *   shows the page again, with `refused` set
   */
  run(request: ActionRequest): Promise<ActionOutcome>;
}

/** An action in the operator log: `keys.revoke`. */
export function logName({ path }: Pick<Action, "path">): string {
  return path.slice(1).replace("/", ".");
}

/** How it ended; `notice` is shown on the next page too. */
interface ActionOutcome extends ActEnd {
  /**
   * The page to go to, below `/ops`; or a page shown at once and this once, for what is stored
   * nowhere.
   */
  readonly goTo: string | ShownPage;
}
