import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditOptions, runAudit } from "../../src/audit/audit.ts";
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import { silentLogger } from "../../src/log.ts";

/** The product's own audit of a world's topics, which goes on each time from where it stopped. */
export interface Auditor {
  /**
   * @param given.messages how many messages it must have judged by now
   * @param given.api whose rankings it shall compare; none when absent
   * @throws AssertionError with the first divergence in full, and how many of each kind there are
   */
  audit(given: { readonly messages: number; readonly api?: AuditOptions["api"] }): Promise<void>;
  close(): Promise<void>;
}

/** As `starboard audit` has them by default. */
const LATE_MS = 24 * 3_600_000;
const SETTLE_MS = 30_000;

export function openAuditor(given: {
  readonly mirrorUrl: string;
  readonly topics: { readonly event: string; readonly asset: string };
  readonly collections: AuditOptions["collections"];
  readonly keys: AuditOptions["keys"];
}): Auditor {
  const folder = mkdtempSync(join(tmpdir(), "prove-"));
  const mirror = openAuditMirror({
    urls: [given.mirrorUrl],
    log: silentLogger,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  });
  return {
    async audit({ messages, api = null }) {
      const conclusion = await runAudit({
        mirror,
        topics: { event: [given.topics.event], asset: [given.topics.asset] },
        collections: given.collections,
        keys: given.keys,
        excluded: [],
        day: null,
        exports: null,
        api,
        lateMs: LATE_MS,
        settleMs: SETTLE_MS,
        stateFile: join(folder, "state"),
        now: Date.now,
        onProgress: () => undefined,
      });
      const [first] = conclusion.mismatches;
      const counts = JSON.stringify(conclusion.byKind);
      assert.ok(
        conclusion.ok,
        `the audit found ${counts}, first ${JSON.stringify(first, null, 2)}`,
      );
      assert.equal(conclusion.checked.messages, messages, "messages that the audit judged");
      // What it leaves in doubt it has not proved.
      assert.deepEqual(conclusion.unprovable, [], "what the audit could not prove");
    },
    async close() {
      await mirror.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
