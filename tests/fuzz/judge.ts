import * as assert from "node:assert/strict";
import { PROBLEM_CODES } from "../../src/http/problem.ts";
import { type Operation, operations } from "../../src/http/voting/operations.ts";
import { refusalSchemas } from "../../src/http/voting/schemas.ts";
import { type OpenApi, violations } from "../http/v1/contract.ts";
import type { WireReply, WireRequest } from "./wire.ts";

/** What a reply is held against. */
export interface Judged {
  readonly document: OpenApi;
  readonly secrets: readonly string[];
  /** Codes of 503 that this request may meet: its dependency is spoilt. */
  readonly outages: readonly string[];
}

const LEAKS = /node_modules|\.ts:\d|select |postgres|ECONN|at Object/i;
const HTML = "text/html; charset=utf-8";
const table: readonly Operation[] = Object.values(operations);

/** Throws where a reply is none that the contract has for this request. */
export function judge(reply: WireReply, request: WireRequest, given: Judged): void {
  const { status, text, headers } = reply;
  const { method, path } = askedOf(request);
  for (const secret of given.secrets) assert.ok(!text.includes(secret), "a secret is in the reply");
  if (status >= 500) {
    assert.equal(status, 503, text);
    assert.ok(given.outages.includes(JSON.parse(text).code), text);
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  }
  if (method === "HEAD" || status === 304 || status === 204 || request.untilHead) {
    assert.equal(text, request.untilHead ? text : "");
    return;
  }
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  if (status >= 400 && isJson) judgeError(reply, path);
  else if (isPage(path)) judgePage(reply);
  else if (status >= 400) assert.fail(`${status} without JSON: ${text.slice(0, 200)}`);
  if (path.startsWith("/v1") && status === 200) {
    assert.deepEqual(violations(given.document, endpointOf(path), reply), []);
  }
  if (path.startsWith("/voting/") && status < 300) judgeVoting(reply, method, path);
}

/** Method and path as the bytes say; empty where they say nothing. */
function askedOf({ bytes }: WireRequest): { method: string; path: string } {
  const [method = "", target = ""] = bytes.split(/ +/, 2);
  const whole = target.startsWith("/") ? `http://fuzz${target}` : target;
  return { method, path: URL.canParse(whole) ? new URL(whole).pathname : "" };
}

function endpointOf(path: string): string {
  return path.replace(/^\/v1/, "").replace(/^\/events\/[^/]+$/, "/events/{id}") || "/";
}

const PROGRAMS = /^\/(v1|voting|exports|healthz|readyz|metrics|demo|ops\/api)(\/|$)/;

function isPage(path: string): boolean {
  return !PROGRAMS.test(path);
}

function judgePage({ status, headers }: WireReply): void {
  assert.ok(
    [200, 206, 303, 308, 400, 401, 403, 404, 405, 409, 413, 422, 429].includes(status),
    `${status}`,
  );
  const isRefusal = status >= 400;
  if (isRefusal) assert.equal(headers.get("content-type")?.toLowerCase(), HTML);
}

/** `{ error, code, … }`; the public API's 405 and 429 have no code. */
function judgeError({ status, headers, text }: WireReply, path: string): void {
  assert.doesNotMatch(text, LEAKS);
  const body = JSON.parse(text);
  assert.equal(typeof body.error, "string");
  if (status === 405) assert.ok(headers.has("allow"), "405 without Allow");
  if (status === 401) assert.equal(headers.get("www-authenticate"), "Bearer");
  if (status === 429) assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  if (path.startsWith("/v1") && (status === 405 || status === 429)) {
    assert.deepEqual(Object.keys(body), ["error"]);
    if (status === 405) assert.equal(headers.get("allow"), "GET");
    return;
  }
  if (status === 405) {
    assert.ok([undefined, "METHOD_NOT_ALLOWED"].includes(body.code), text);
    return;
  }
  assert.ok((PROBLEM_CODES as readonly string[]).includes(body.code), text);
  const extra = extrasOf(path, body.code);
  if (extra !== null) assert.deepEqual(Object.keys(body), ["error", "code", ...extra], text);
}

/** The fields beside error and code; null where another judge knows them. */
function extrasOf(path: string, code: string): readonly string[] | null {
  if (path.startsWith("/v1")) return code === "INVALID_PARAMETER" ? ["parameter", "allowed"] : [];
  return path.startsWith("/voting") && !(code in refusalSchemas) ? [] : null;
}

/** A success of the voting API is the body its operation has. */
function judgeVoting({ status, text }: WireReply, method: string, path: string): void {
  const below = path.slice("/voting".length);
  const row = table.find(
    (each) =>
      each.method === method &&
      new RegExp(`^${each.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(below),
  );
  assert.ok(row, `${method} ${path} is no operation`);
  assert.equal(status, row.status);
  if (row.response !== null) row.response.parse(JSON.parse(text));
}
