/**
 * Goal: what is published is small, and works as it is in Node, Deno and browsers. Method: the package
 * is packed from its source alone; the tarball is measured, unpacked where programs look for packages,
 * compiled against, and loaded by plain Node, and by Deno and a headless Chromium where they are
 * installed, against a server that answers by hand.
 */
import * as assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { suite } from "uvu";
import { CHROMIUM, launchChromium } from "../../../tests/support/browser.ts";

/** Without the licence: its text is not ours to shorten. */
const MOST_PACKED_BYTES = 15_000;
const root = fileURLToPath(new URL("..", import.meta.url));
const TSC = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));

interface Context {
  /** Where a separate program finds `@starboard/client`. */
  folder: string;
  /** Where the package's own files are. */
  installed: string;
  /** The size of the tarball without the licence. */
  bytes: number;
  server: Server;
  url: string;
}

const test = suite<Context>("the packed client");

test.before(async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-client-"));
  // As it is checked out: nothing is built.
  const source = join(folder, "source/packages/client");
  const parts = ["package.json", "README.md", "tsconfig.json", "src"];
  for (const name of parts) cpSync(join(root, name), join(source, name), { recursive: true });
  cpSync(join(root, "../../tsconfig.json"), join(folder, "source/tsconfig.json"));
  symlinkSync(join(root, "../../node_modules"), join(folder, "source/node_modules"));
  const pack = (...more: readonly string[]): string => {
    const asked = ["pack", "--silent", "--offline", "--pack-destination", folder, ...more];
    return join(folder, execFileSync("npm", asked, { cwd: source, encoding: "utf8" }).trim());
  };
  const { size: bytes } = statSync(pack());
  cpSync(join(root, "LICENSE"), join(source, "LICENSE"));
  const tarball = pack("--ignore-scripts");
  const installed = join(folder, "node_modules/@starboard/client");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  const server = answeringServer(installed);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  Object.assign(context, { folder, installed, bytes, server, url });
});
test.after(({ folder, server }) => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Answers the client's requests, and gives a browser the package's own files. */
function answeringServer(installed: string): Server {
  return createServer(({ method, url = "" }, reply) => {
    const json = (status: number, body: object): void => {
      reply.writeHead(status, { "content-type": "application/json" });
      reply.end(JSON.stringify(body));
    };
    if (url === "/") return reply.setHeader("content-type", "text/html").end("<!doctype html>");
    if (url.startsWith("/dist/")) {
      reply.setHeader("content-type", "text/javascript");
      return reply.end(readFileSync(join(installed, url)));
    }
    if (url === "/voting/live") {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      return reply.end(
        'id: 1\nevent: counter\ndata: {"type":"token","id":"0.0.7","totalVotes":9,"day":"2026-11-20"}\n\n',
      );
    }
    if (method === "POST") return json(409, { error: "No.", code: "ALREADY_STARRED", starId: "s" });
    const offset = Number(new URL(url, "http://x").searchParams.get("offset") ?? 0);
    json(200, { events: [{ id: `e${offset}` }], hasMore: offset < 2, limit: 1, offset, total: 3 });
  });
}

/** What every platform runs: pages, a refusal, the stream. Returns the results. */
const program = (from: string, url: string): string => `
import { data, StarboardError, voting } from "${from}";
const ids = [];
for await (const { id } of data({ baseUrl: "${url}", apiKey: "k" }).each("/events", { limit: 1 })) ids.push(id);
const client = voting({ baseUrl: "${url}", token: "t" });
const refused = await client.star({ type: "token", id: "0.0.7" }).catch((error) => error);
let seen = 0;
for await (const { data } of client.live()) { seen = data.totalVotes; break; }
export const said = [ids.join("+"), refused instanceof StarboardError, refused.code, refused.starId, seen].join();`;
const SAID = "e0+e1+e2,true,ALREADY_STARRED,s,9";

test("the tarball is small", ({ bytes }) => {
  assert.ok(bytes <= MOST_PACKED_BYTES, `${bytes} bytes`);
});

test("it has the text of its licence, the service's own", ({ installed }) => {
  const texts = [installed, join(root, "../..")].map((at) =>
    readFileSync(join(at, "LICENSE"), "utf8"),
  );
  assert.equal(texts[0], texts[1]);
});

test("each program of its README compiles, strictly, by the types that are published", async ({
  folder,
}) => {
  const programs = readFileSync(join(root, "README.md"), "utf8").matchAll(/^```ts\n(.*?)^```/gms);
  const files = [...programs].map(([, text = ""], index) => {
    writeFileSync(join(folder, `readme-${index}.mts`), text);
    return `readme-${index}.mts`;
  });
  assert.ok(files.length >= 2);
  for (const module of ["node16", "nodenext", "preserve"]) {
    const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
    const { status, stdout } = spawnSync(
      process.execPath,
      [TSC, ...strict, "--module", module, "--types", "", ...files],
      { cwd: folder, encoding: "utf8" },
    );
    assert.equal(status, 0, stdout);
  }
});

test("it runs in plain Node", async ({ folder, url }) => {
  const text = `${program("@starboard/client", url)}\nprocess.stdout.write(said);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", text],
    { cwd: folder },
  );
  assert.equal(stdout, SAID);
});

test("it runs in Deno, allowed to reach the service alone", async ({ folder, url }) => {
  if (spawnSync("deno", ["--version"]).status !== 0) {
    process.stdout.write("SKIPPED: no Deno on this machine\n");
    return;
  }
  const file = join(folder, "program.ts");
  const from = "./node_modules/@starboard/client/dist/index.js";
  writeFileSync(file, `${program(from, url)}\nconsole.log(said);`);
  const reach = `--allow-net=${new URL(url).host}`;
  const asked = ["run", "--no-prompt", "--no-config", "--no-lock", reach, file];
  const { stdout } = await promisify(execFile)("deno", asked, { cwd: folder });
  assert.equal(stdout.trim(), SAID);
});

test("it runs in a browser", async ({ url }) => {
  if (CHROMIUM === undefined) {
    process.stdout.write("SKIPPED: no Chromium on this machine\n");
    return;
  }
  const browser = await launchChromium(CHROMIUM);
  try {
    const page = await browser.newPage();
    await page.goto(url);
    const text = program(`${url}/dist/index.js`, url);
    const said = await page.evaluate(`
      import(URL.createObjectURL(new Blob([${JSON.stringify(text)}], { type: "text/javascript" }))).then(({ said }) => said)`);
    assert.equal(said, SAID);
  } finally {
    await browser.close();
  }
});

test.run();
