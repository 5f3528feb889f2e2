/**
 * How fast `starboard journal recover` fills an empty database, and whether its memory depends on
 * the number of stars. Method: a mirror node of the test without a limit in a process of its own,
 * the recovery in another. `npm run bench:recover -- [--stars 100000]`.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs, promisify } from "node:util";
import { ITEMS } from "../audit/world.ts";
import { testDatabase } from "../support/postgres.ts";
import { NODE_FLAGS, scriptOf } from "../support/script.ts";

const { values } = parseArgs({ options: { stars: { type: "string", default: "100000" } } });
const PER_DAY = 10_000;
const MB = 2 ** 20;
const file = (name: string): string => scriptOf(new URL(name, import.meta.url));

for (const stars of [Number(values.stars) / 10, Number(values.stars)]) {
  const mirror = spawn(
    process.execPath,
    [...NODE_FLAGS, file("audit-mirror.ts"), String(stars), String(PER_DAY)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const database = await testDatabase({ migrated: true });
  try {
    // The mint has no stars here.
    for (const { type, id, eventKind, ledgerId } of ITEMS.filter((each) => each.id !== "mint")) {
      const { sql } = database;
      if (type === "event") {
        await sql`insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
          values (${id}, ${id}, ${eventKind}, false, 0, 4102444800000, 0, 0)`;
      } else if (type === "token") {
        await sql`insert into token (id, symbol, name, created_at, approved_at) values (${id}, ${id}, ${id}, 0, 0)`;
      } else if (type === "collection") {
        await sql`insert into collection (id, name, created_at, approved_at) values (${id}, ${id}, 0, 0)`;
      } else {
        await sql`insert into project (id, slug, name, category, ledger_id, created_at, approved_at)
          values (${id}, ${id}, ${id}, 'DEFI', ${ledgerId}, 0, 0)`;
      }
    }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      ...NODE_FLAGS,
      file("recover-run.ts"),
      await urlOf(mirror),
      database.url,
    ]);
    process.stderr.write(stderr);
    const run = JSON.parse(stdout) as Run;
    console.log(
      `${run.recovered.toLocaleString("en")} stars in ${run.seconds.toFixed(1)} s ` +
        `(${run.cpuSeconds.toFixed(1)} s of CPU in the command), ` +
        `${run.unprovable} unprovable, RSS at most ${(run.rssMax / MB).toFixed(0)} MB`,
    );
  } finally {
    mirror.kill();
    await database.close();
  }
}

interface Run {
  readonly recovered: number;
  readonly unprovable: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly rssMax: number;
}

async function urlOf(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout ?? child, "data")) as [Buffer];
  return String(chunk).trim();
}
