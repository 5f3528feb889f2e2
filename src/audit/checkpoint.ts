import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { AuditState } from "./audit-state.ts";

/** Raised when the state changes its shape. */
const FORMAT = "starboard-audit-6";

/** Writes the state beside the file and then puts it in its place: a crash leaves the old one. */
export function writeCheckpoint(file: string, identity: object, state: AuditState): void {
  const body = JSON.stringify({ identity, state }, withMaps);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, `${FORMAT} ${digest(body)}\n${body}\n`, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Reads a checkpoint back.
 *
 * @param identity what the audit is about: the checkpoint of anything else is of no use
 * @returns undefined when there is no such file
 * @throws Error in one line when it is damaged or of another audit
 */
export function readCheckpoint(file: string, identity: object): AuditState | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`${file} cannot be read`);
  }
  const [first = "", body = ""] = text.split("\n", 2);
  const [format, checksum] = first.split(" ");
  if (format !== FORMAT) throw new Error(`${file} is no checkpoint of this audit`);
  // The checksum covers every byte, so the content needs no further check.
  if (checksum !== digest(body)) throw new Error(`${file} is damaged`);
  const kept = JSON.parse(body, intoMaps) as { identity: object; state: AuditState };
  if (JSON.stringify(kept.identity) !== JSON.stringify(identity)) {
    throw new Error(`${file} is the checkpoint of an audit with other settings`);
  }
  return kept.state;
}

function digest(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

function withMaps(_: string, value: unknown): unknown {
  return value instanceof Map ? { $map: [...value] } : value;
}

function intoMaps(_: string, value: unknown): unknown {
  const isMap = typeof value === "object" && value !== null && "$map" in value;
  return isMap ? new Map(value.$map as [unknown, unknown][]) : value;
}
