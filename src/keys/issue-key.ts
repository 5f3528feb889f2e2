import { uuidv7 } from "uuidv7";
import { TerminalError } from "../errors.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { hashOf, makeKey, shownPrefix } from "./key-form.ts";

export interface IssuedKey {
  readonly id: string;
  readonly name: string;
  /** The key itself: this is the only time that anyone sees it. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** A column of `api_key` refuses longer ones. */
const NAME_CHARACTERS_MAX = 300;

/**
 * Issues a key for one person or project; "only a hash of it is stored".
 *
 * @throws TerminalError `INVALID_REQUEST` for a name that is empty or too long
 */
export async function issueKey(sql: Sql, name: string): Promise<IssuedKey> {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > NAME_CHARACTERS_MAX) {
    throw new TerminalError("INVALID_REQUEST", "a name of 1 to 300 characters is needed", {
      field: "name",
    });
  }
  const id = uuidv7();
  const key = makeKey();
  const [row] = await runStatement(sql<{ created_at: number }[]>`
    insert into api_key (id, name, prefix, hash, created_at)
    values (${id}, ${trimmed}, ${shownPrefix(key)}, ${hashOf(key)}, now_ms())
    returning created_at`);
  if (row === undefined) throw new Error("the key was not stored");
  return { id, name: trimmed, key, createdAt: row.created_at };
}
