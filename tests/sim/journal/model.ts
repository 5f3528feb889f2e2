import type { Sql } from "../../../src/store/postgres.ts";
import { mintStatements } from "./mints.ts";
import { publishStatements } from "./publishing.ts";
import type { Journal, Rows, Statement } from "./statement.ts";
import { voteStatements } from "./votes.ts";

const statements = [...voteStatements, ...mintStatements, ...publishStatements];
const byText = new WeakMap<TemplateStringsArray, Statement>();

/** @throws Error for a statement that the model lacks: it is to be added there */
function statementOf(strings: TemplateStringsArray): Statement {
  const known = byText.get(strings);
  if (known !== undefined) return known;
  const text = strings.join("$").replace(/\s+/g, " ").trim();
  const found = statements.filter(({ phrase, isWhole }) =>
    isWhole ? text === phrase : text.includes(phrase),
  );
  const [only] = found;
  if (only === undefined || found.length > 1) {
    const error = new Error(`${found.length} statements of the model answer to: ${text}`);
    // The run ends by it: a caller may take what it is given for an outage.
    void Promise.reject(error);
    throw error;
  }
  byText.set(strings, only);
  return only;
}

/** A statement about to be sent. */
export interface Sent {
  readonly name: string;
  readonly given: readonly unknown[];
  /** As in `Statement`. */
  readonly run: (journal: Journal) => () => Rows;
}

/** A part of another statement, or a statement that is sent when it is waited for. */
class Query implements PromiseLike<Rows> {
  readonly #strings: TemplateStringsArray;
  readonly #given: readonly unknown[];
  readonly #send: (sent: Sent) => Promise<Rows>;

  constructor(
    strings: TemplateStringsArray,
    given: readonly unknown[],
    send: (sent: Sent) => Promise<Rows>,
  ) {
    this.#strings = strings;
    this.#given = given;
    this.#send = send;
  }

  // biome-ignore lint/suspicious/noThenProperty: postgres.js' queries are sent when they are waited for
  then<A, B>(
    onRows?: ((rows: Rows) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const { name, run } = statementOf(this.#strings);
    const given = this.#given.filter((value) => !(value instanceof Query));
    return this.#send({ name, given, run: (journal) => run(given, journal) }).then(onRows, onError);
  }
}

/** A pool as src uses it: tagged templates alone. @param send how a statement gets there and back */
export function poolOf(send: (sent: Sent) => Promise<Rows>): Sql {
  const tag = (strings: TemplateStringsArray, ...given: unknown[]) =>
    new Query(strings, given, send);
  // Its other members are not called.
  return tag as unknown as Sql;
}

/** A pool on the journal itself: each statement is done at once. */
export function directPool(journal: Journal): Sql {
  return poolOf(async ({ run }) => run(journal)());
}
