let write: ((text: string) => void) | undefined;

/** Writes each step of every run somewhere, for looking at one. */
export function onTrace(given: (text: string) => void): void {
  write = given;
}

/** Everything that happens in a run, as one hash: equal runs have equal ones. */
export class Trace {
  readonly #now: () => number;
  #one = 0x811c9dc5;
  #other = 0x01000193;

  /** @param now the world's time */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param detail what is worth reading and is not hashed */
  note(what: string, detail?: () => unknown): void {
    const text = `${this.#now()} ${what}`;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      this.#one = Math.imul(this.#one ^ code, 0x01000193);
      this.#other = Math.imul(this.#other ^ code, 0x85ebca6b) + 1;
    }
    write?.(detail === undefined ? text : `${text} ${JSON.stringify(detail())}`);
  }

  hash(): string {
    return hex(this.#one) + hex(this.#other);
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
