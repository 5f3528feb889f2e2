/** `bin/starboard`, by which every documented way starts a process: the flags that Node takes at its start alone. */
import * as assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MB = 2 ** 20;

interface Context {
  folder: string;
}
const test = suite<Context>("the launcher");
test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), "starboard-launcher-"));
});
test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

/** Fills the young generation with objects in use, and prints the bytes that it then has. */
const YOUNG = `
  const inHand = new Array(1_000_000);
  for (let n = 0; n < 8_000_000; n += 1) inHand[n % inHand.length] = { n, some: [n] };
  const spaces = require("node:v8").getHeapSpaceStatistics();
  console.log(spaces.find(({ space_name }) => space_name === "new_space").space_size);`;

/** @returns bytes of the young generation in a process that is started by these words */
function youngBytes(folder: string, ...words: readonly string[]): number {
  // In place of `node`: takes the flags, runs the script above and not the product.
  writeFileSync(
    join(folder, "node"),
    `#!/bin/sh
case "$1" in --*) flag=$1 ;; esac
exec "${process.execPath}" $flag -e '${YOUNG}'
`,
    { mode: 0o755 },
  );
  symlinkSync(join(ROOT, "bin/starboard"), join(folder, "starboard"));
  const env = { PATH: `${folder}:${process.env.PATH}` };
  return Number(execFileSync(join(folder, "starboard"), words, { env, encoding: "utf8" }));
}

test("a web process has a young generation of 64 MB twice, one half to move into", ({ folder }) => {
  assert.equal(youngBytes(folder, "serve"), 128 * MB);
});

test("a worker has the young generation of Node's default", ({ folder }) => {
  assert.equal(youngBytes(folder, "work"), 32 * MB);
});

test("Procfile and npm start start processes by it; the package's command is JavaScript for plain Node", () => {
  const { bin, scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.equal(bin.starboard, "./dist/src/processes/starboard.js");
  assert.match(scripts.start, /&& exec bin\/starboard dev$/);
  const lines = readFileSync(join(ROOT, "Procfile"), "utf8").trim().split("\n");
  for (const line of lines) assert.match(line, /^\w+: bin\/starboard \w+$/);
});

test("a signal to npm start reaches the process, not a shell that leaves it behind", ({
  folder,
}) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  writeFileSync(join(folder, "npm"), "#!/bin/sh\n", { mode: 0o755 });
  mkdirSync(join(folder, "bin"));
  // Nothing but the process itself hears a signal that npm sends to what it has started.
  writeFileSync(join(folder, "bin/starboard"), "#!/bin/sh\necho $$\n", { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const { pid, stdout } = spawnSync("sh", ["-c", scripts.start], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  assert.equal(Number(stdout), pid);
});

test.run();
