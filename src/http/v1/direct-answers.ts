import { isKey } from "../../keys/key-form.ts";
import type { KeyVerdict, VerifyKey } from "../../keys/verify-key.ts";
import { revisionOf } from "../../store/data-revision.ts";
import { begin } from "../begun.ts";
import type { DirectPart, DirectReply } from "../direct.ts";
import type { DirectRequest } from "../direct-request.ts";
import { givenKey } from "../middleware/api-key.ts";
import type { RateLimit } from "../middleware/rate-limit.ts";
import type { CountedVerdict } from "../middleware/shared-window.ts";
import { inFlights } from "./flights.ts";
import type { KeptBodies } from "./kept-bodies.ts";
import type { KnownQuestion, KnownQuestions } from "./known-questions.ts";
import { type ReadyReply, type Representation, readyFor } from "./representation.ts";

/** What the app's routes share with the short way. */
export interface DirectAnswersDeps {
  readonly questions: KnownQuestions;
  readonly limit: RateLimit;
  readonly verifyKey: VerifyKey;
  readonly bodies: KeptBodies;
  readonly cacheControl: string;
}

interface Asked {
  readonly known: KnownQuestion;
  readonly request: DirectRequest;
  /** Whoever hangs up meanwhile counts all the same. */
  readonly client: string;
}

type Answer = DirectReply | undefined | Promise<DirectReply | undefined>;

/**
 * The data endpoints as they are asked nearly always: a question that was asked before, within
 * the limit, with a good key, whose body is kept and stands. In the order of checks, and each
 * asked as the app asks it: the limit counts over all processes, the key is read from the
 * database after the request arrived. Requests that wait take each step together.
 */
export function answerDirectly(deps: DirectAnswersDeps): DirectPart {
  const { questions, limit, verifyKey, bodies } = deps;
  const answer = inFlights(answerAll);
  return (request) => {
    const known = questions.find(request.target);
    return known && answer({ known, request, client: limit.client(request) });
  };

  async function answerAll(asked: readonly Asked[]): Promise<readonly Answer[]> {
    const keys = asked.map(({ request }) => givenKey(request));
    const pick = (isWanted: (index: number, key: string) => boolean): readonly string[] =>
      keys.filter((key, index) => key !== undefined && isWanted(index, key)) as string[];
    const clients = asked.map(({ client }) => client);
    // Whoever is far from the limit waits for one answer, not for two; a flood costs the
    // database nothing. Nobody waits for two of the database's, however slow it is.
    const roomy = new Set(pick((index) => limit.hasRoom(clients[index] ?? "")));
    const looking = lookUp([...roomy]);
    const counts = await limit.takeAll(clients);
    const others = pick((at, key) => counts[at]?.accepted === true && !roomy.has(key));
    const [early, late] = await Promise.all([looking, lookUp(others)]);
    const find = findingOnce(bodies);
    return asked.map(({ known, request }, index) => {
      const counted = counts[index];
      if (counted === undefined) return undefined;
      const key = (counted.accepted && keys[index]) || "";
      const { verdict, verify } = early.get(key) ?? late.get(key) ?? NOBODY;
      const shown = verdict?.state === "valid" ? find(known, verdict) : undefined;
      if (verdict?.state !== "valid" || shown === undefined) {
        begin(request.env.incoming, { startedAt: request.startedAt, counted, verify });
        return undefined;
      }
      return replyTo(request, { shown, counted, path: known.path, keyId: verdict.keyId });
    });
  }

  /** What is known of each of the keys, and how the app is to hear of it. */
  async function lookUp(keys: readonly string[]): Promise<ReadonlyMap<string, LookedUp>> {
    if (keys.length === 0) return NO_KEYS;
    try {
      const found = new Map<string, LookedUp>();
      for (const [key, verdict] of await verifyKey.together(keys)) {
        found.set(key, { verdict, verify: async () => verdict });
      }
      return found;
    } catch (error) {
      const failed = { verdict: undefined, verify: () => Promise.reject(error) };
      // What no database need be asked about, the app still refuses by itself.
      return new Map(keys.map((key) => [key, isKey(key) ? failed : NOBODY]));
    }
  }

  function replyTo(
    request: DirectRequest,
    given: { shown: Representation; counted: CountedVerdict; path: string; keyId: string },
  ): Answer {
    const { shown, counted, path, keyId } = given;
    const rate = limit.headers(counted);
    const asReply = ({ status, headers, bytes }: ReadyReply): DirectReply => ({
      status,
      headers,
      bytes,
      rate,
      path,
      keyId,
    });
    const ready = readyFor(request, shown, deps.cacheControl);
    return ready instanceof Promise ? ready.then(asReply) : asReply(ready);
  }
}

interface LookedUp {
  readonly verdict: KeyVerdict | undefined;
  readonly verify: (() => Promise<KeyVerdict>) | undefined;
}

const NOBODY: LookedUp = { verdict: undefined, verify: undefined };
const NO_KEYS: ReadonlyMap<string, LookedUp> = new Map();

/** Those who ask the same together, at one state of the data, find the same. */
function findingOnce(bodies: KeptBodies) {
  const found = new Map<KnownQuestion, Representation | undefined>();
  return (known: KnownQuestion, { revision }: KeyVerdict & { readonly state: "valid" }) => {
    if (!found.has(known)) {
      const { question, answer: read, row } = known;
      found.set(known, bodies.find({ question, revision: revisionOf(revision, row.shows), read }));
    }
    return found.get(known);
  };
}
