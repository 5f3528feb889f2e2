/**
 * Goal: `/docs` shows the OpenAPI document, and no request of it leaves the host. Method: the
 * page and each file that it names are fetched and read; its policy forbids the rest.
 */
import * as assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { Hono } from "hono";
import { test } from "uvu";
import { type DataOptions, data, StarboardError } from "../../../packages/client/src/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { docsRoutes } from "../../../src/http/docs/routes.ts";
import { NOTICES } from "../../../src/http/v1/notices.ts";
import { votingDocument } from "../../../src/http/voting/openapi.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { bodyOf, type House, openHouse } from "../v1/house.ts";

let house: House;
let app: Hono;
test.before(async () => {
  house = await openHouse();
  const mounts = [{ path: "/", app: docsRoutes("http://starboard.test") }];
  const docs = createApp({ log: silentLogger, metrics: createMetrics(), mounts });
  app = new Hono().mount("/v1", (request) => house.app.fetch(request), {
    replaceRequest: (request) => request,
  });
  app.get("/voting/openapi.json", (c) => {
    c.header("X-Content-Type-Options", "nosniff");
    return c.json(votingDocument("http://starboard.test"));
  });
  app.mount("/", docs.fetch);
});
test.after(() => house.close());

const page = async () => (await app.request("/docs")).text();
const addresses = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = ""]) => address);

test("405 with `Allow` for another method, on the page and on its files", async () => {
  for (const path of [
    "/docs",
    ...addresses(await page()).filter((to) => to.startsWith("/docs/")),
  ]) {
    const response = await app.request(path, { method: "POST" });
    assert.deepEqual([response.status, response.headers.get("allow")], [405, "GET, HEAD"], path);
  }
});

test("the notices are on the page, readable without JavaScript", async () => {
  const html = await page();
  assert.ok(NOTICES.length >= 3);
  for (const notice of NOTICES) assert.ok(html.includes(notice.replaceAll("&", "&amp;")), notice);
});

test("every file that the page names is served from here, with its type", async () => {
  const files = addresses(await page());
  assert.ok(files.length >= 5);
  for (const file of files) {
    assert.doesNotMatch(file, /^(?:[a-z]+:|\/)/, "relative, so of this host");
    const url = new URL(file, "http://host/prefix/docs").pathname.replace("/prefix", "");
    const response = await app.request(url);
    assert.equal(response.status, 200, url);
    const type = response.headers.get("content-type") ?? "";
    const wanted = {
      css: "text/css",
      js: "text/javascript",
      svg: "image/svg+xml",
      json: "application/json",
    };
    assert.ok(
      type.startsWith(wanted[url.split(".").at(-1) as keyof typeof wanted]),
      `${url}: ${type}`,
    );
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.ok((await response.arrayBuffer()).byteLength > 50);
  }
});

test("its policy allows requests to this host alone, and no inline script", async () => {
  for (const path of ["/docs", "/docs/page.js", "/docs/swagger-ui-bundle.js"]) {
    const policy = (await app.request(path)).headers.get("content-security-policy") ?? "";
    const directives = new Map(
      policy.split("; ").map((line) => [line.split(" ")[0] ?? "", line.split(" ").slice(1)]),
    );
    assert.deepEqual(directives.get("default-src"), ["'none'"]);
    for (const [name, sources] of directives) {
      const allowed = ["'self'", "'none'", ...(name === "img-src" ? ["data:"] : [])];
      for (const source of sources) assert.ok(allowed.includes(source), `${name} ${source}`);
    }
    assert.ok(directives.has("frame-ancestors") && directives.has("base-uri"));
  }
  const html = await page();
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/i);
});

test("Swagger UI is asked for no validator and takes no settings from the address", async () => {
  const script = await (await app.request("/docs/page.js")).text();
  assert.match(script, /validatorUrl: null/);
  assert.match(script, /queryConfigEnabled: false/);
  assert.match(script, /v1\/openapi\.json/);
});

/** Runs a TypeScript sample as a program that has the client, and a key. @throws what it throws */
async function run(source: string): Promise<void> {
  const program = source.replace(/^import .*;$/m, "");
  const ask: typeof fetch = async (url, init) => house.app.request(String(url), init);
  const client = (options: DataOptions) => data({ ...options, fetch: ask });
  const process = { env: { STARBOARD_API_KEY: house.key } };
  const made = new AsyncFunction("data", "process", "console", program);
  await made(client, process, { log: () => undefined }).catch((error: unknown) => {
    // The example's record is not there; anything else is answered.
    if (!(error instanceof StarboardError && error.code === "NOT_FOUND")) throw error;
  });
}
const AsyncFunction = (async () => undefined).constructor as new (
  ...text: string[]
) => (...given: readonly unknown[]) => Promise<void>;

test("each TypeScript sample of both documents compiles against the client", async () => {
  const folder = temporaryFolder("test-samples");
  const root = join(import.meta.dirname, "../../..");
  let samples = 0;
  for (const path of ["/v1/openapi.json", "/voting/openapi.json"]) {
    const { paths } = await bodyOf(await app.request(path));
    for (const operation of Object.values(paths as object).flatMap(Object.values)) {
      const sample = operation["x-codeSamples"].find(
        ({ lang }: { lang: string }) => lang !== "Shell",
      );
      if (sample === undefined) continue;
      assert.ok(operation.description.includes(sample.source));
      writeFileSync(join(folder, `sample-${++samples}.mts`), sample.source);
    }
  }
  assert.ok(samples >= 20, `${samples} samples`);
  const declared = "declare function signMessage(text: string): Promise<string>;";
  writeFileSync(join(folder, "given.d.ts"), declared);
  const compilerOptions = {
    paths: { "@starboard/client": [join(root, "packages/client/src/index.ts")] },
    typeRoots: [join(root, "node_modules/@types")],
  };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["."] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(fileURLToPath(import.meta.resolve("typescript/package.json")), "../bin/tsc");
  try {
    const outcome = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch(Object);
    assert.equal(outcome.stdout, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("each endpoint has an example for curl and for TypeScript, as samples and in its text", async () => {
  const document = await bodyOf(await app.request("/v1/openapi.json"));
  type Operation = {
    description: string;
    security: unknown[];
    "x-codeSamples": { lang: string; source: string }[];
  };
  const paths = Object.entries(document.paths as Record<string, { get: Operation }>);
  assert.ok(paths.length >= 7);
  for (const [path, { get }] of paths) {
    assert.deepEqual(
      get["x-codeSamples"].map(({ lang }) => lang),
      ["Shell", "TypeScript"],
    );
    const [curl, typescript] = get["x-codeSamples"].map(({ source }) => source);
    const address = /"(https?:[^"]*)"$/.exec(curl ?? "")?.[1] ?? "";
    const { pathname, search } = new URL(address);
    const bearer = { Authorization: `Bearer ${house.key}` };
    const response = await house.app.request(pathname + search, { headers: bearer });
    // The example's record is not there; anything else is answered.
    assert.equal(response.status, path.includes("{") ? 404 : 200, address);
    assert.equal(curl?.includes("Authorization"), get.security.length > 0, path);
    await run(typescript ?? "");
    for (const source of [curl, typescript]) assert.ok(get.description.includes(source ?? "-"));
  }
});

test("a file whose first reading fails is read again by the next request", async () => {
  const { readFile } = fs;
  const broken = docsRoutes("http://starboard.test");
  broken.onError((_, c) => c.text("", 500));
  const ask = async () => (await broken.request("/docs/swagger-ui.css")).status;
  const fail = () => Promise.reject(new Error("too many open files"));
  Object.assign(fs, { readFile: fail });
  syncBuiltinESMExports();
  const failed = await ask();
  Object.assign(fs, { readFile });
  syncBuiltinESMExports();
  assert.deepEqual([failed, await ask()], [500, 200]);
});

test("large files are sent compressed, and a cached one is not sent again", async () => {
  const plain = await app.request("/docs/swagger-ui-bundle.js");
  const packed = await app.request("/docs/swagger-ui-bundle.js", {
    headers: { "Accept-Encoding": "gzip" },
  });
  const bytes = Buffer.from(await packed.arrayBuffer());
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  const text = await plain.text();
  assert.ok(bytes.length < text.length / 2);
  assert.equal(gunzipSync(bytes).toString(), text);
  const again = await app.request("/docs/swagger-ui-bundle.js", {
    headers: { "If-None-Match": packed.headers.get("etag") ?? "" },
  });
  assert.equal(again.status, 304);
});

test("other files of the package are not served", async () => {
  for (const path of [
    "/docs/package.json",
    "/docs/index.html",
    "/docs/../package.json",
    "/docs/%2e%2e/package.json",
  ]) {
    assert.equal((await app.request(path)).status, 404, path);
  }
  const slash = await app.request("/docs/");
  assert.equal(slash.status, 308);
  assert.equal(new URL(slash.headers.get("location") ?? "", "http://host/docs/").pathname, "/docs");
});

test.run();
