import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditOptions, runAudit } from "../../src/audit/audit.ts";
import { type AuditMirror, openAuditMirror } from "../../src/audit/audit-mirror.ts";
import type { Conclusion } from "../../src/audit/conclude.ts";
import { openExportSource } from "../../src/audit/export-source.ts";
import { silentLogger } from "../../src/log.ts";
import { type Serving, serveWorld, writeExports } from "./serve-world.ts";
import { A, B, KEYS, type World } from "./world.ts";

/** How to audit a made-up world. */
export interface Auditing extends Partial<AuditOptions>, Omit<Serving, "exports"> {
  /** Whether its exports are given; default true. */
  readonly withExports?: boolean;
  /** Whether its rankings are compared; default true. */
  readonly withApi?: boolean;
  /** Whether the exports are those that a service writes just then; default false. */
  readonly isLive?: boolean;
  /** Whether the exports are read from the service; default false: from a folder. */
  readonly isServed?: boolean;
  /** Forges the exports' files. */
  readonly onExports?: (folder: string) => void;
  /** Stands before the mirror node. */
  readonly onMirror?: (mirror: AuditMirror) => AuditMirror;
}

/** Serves a world, audits it from outside, and says what the audit said. */
export async function auditWorld(world: World, auditing: Auditing = {}): Promise<Conclusion> {
  const { withExports = true, withApi = true, isLive = false, ...others } = auditing;
  const { onExports, onMirror, isServed = false, onExport, onAnswer, dated, ...options } = others;
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  const served = await serveWorld(world, {
    exports: folder,
    ...(onExport && { onExport }),
    ...(onAnswer && { onAnswer }),
    ...(dated && { dated }),
  });
  const mirror = openAuditMirror({
    urls: [served.url],
    log: silentLogger,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  });
  try {
    writeExports(world, folder);
    onExports?.(folder);
    const source = isServed
      ? openExportSource(`${served.url}/exports`)
      : { ...openExportSource(folder), isLive };
    return await runAudit({
      mirror: onMirror?.(mirror) ?? mirror,
      topics: { event: [world.topics.event.id], asset: [world.topics.asset.id] },
      collections: { a: A, b: B },
      keys: KEYS,
      excluded: world.excluded,
      day: null,
      exports: withExports ? { source, days: await source.days() } : null,
      api: withApi ? { url: served.url, key: "any" } : null,
      lateMs: 24 * 3_600_000,
      settleMs: 0,
      stateFile: null,
      now: Date.now,
      onProgress: () => undefined,
      ...options,
    });
  } finally {
    await mirror.close();
    await served.close();
    rmSync(folder, { recursive: true });
  }
}
