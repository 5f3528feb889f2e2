/**
 * How fast an audit is, and whether its memory depends on the number of messages. Method: a mirror
 * node of the test in a process of its own, the audit in another; 10,000 messages and 100,000 at
 * the same number a day, and 100,000 at 25 times as many a day. `npm run bench:audit`.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const TSX = ["--import", import.meta.resolve("tsx")];
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const MB = 2 ** 20;

interface Run {
  readonly ok: boolean;
  readonly messages: number;
  readonly ms: number;
  readonly heapMax: number;
  readonly rssMax: number;
}

for (const [messages, perDay] of [
  [10_000, 400],
  [100_000, 400],
  [100_000, 10_000],
] as const) {
  const mirror = spawn(
    process.execPath,
    [...TSX, file("audit-mirror.ts"), String(messages), String(perDay)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const run = await audit(await urlOf(mirror));
    const rate = Math.round(run.messages / (run.ms / 1_000)).toLocaleString("en");
    console.log(
      `${messages.toLocaleString("en")} messages, ${perDay.toLocaleString("en")} a day: ` +
        `${run.ok ? "ok" : "NOT OK"}, ${rate} messages/s, ` +
        `heap kept ${(run.heapMax / MB).toFixed(0)} MB, RSS at most ${(run.rssMax / MB).toFixed(0)} MB`,
    );
  } finally {
    mirror.kill();
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout ?? child, "data")) as [Buffer];
  return String(chunk).trim();
}

async function audit(url: string): Promise<Run> {
  const args = ["--expose-gc", ...TSX, file("audit-run.ts"), url];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Run;
}
