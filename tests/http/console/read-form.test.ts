/** Forms as they are sent over the wire, whole or not. */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { test } from "uvu";
import { readForm } from "../../../src/http/console/forms.ts";
import { problemOf } from "../../../src/http/problem.ts";
import { silentLogger } from "../../../src/log.ts";
import { bodyOf } from "../v1/house.ts";

const app = new Hono().post("/", async (c) => c.json({ fields: [...(await readForm(c))] }));
app.onError((error, c) => problemOf(error, c, silentLogger));

async function post(body: string | ReadableStream, type = "application/x-www-form-urlencoded") {
  const headers = { "Content-Type": type };
  const response = await app.request("/", { method: "POST", body, headers, ...{ duplex: "half" } });
  const { fields, code } = await bodyOf(response);
  return [response.status, fields ?? code];
}

test("the fields of a form, in their order", async () => {
  const fields = [
    ["b", "1"],
    ["a", "ä &"],
    ["b", ""],
  ];
  assert.deepEqual(await post("b=1&a=%C3%A4+%26&b="), [200, fields]);
});

test("a form of another type, with a NUL, or too large is refused", async () => {
  assert.deepEqual(await post("{}", "application/json"), [400, "INVALID_REQUEST"]);
  assert.deepEqual(await post("a=%00"), [400, "INVALID_REQUEST"]);
  assert.deepEqual(await post(`a=${"x".repeat(128 * 1_024)}`), [413, "PAYLOAD_TOO_LARGE"]);
});

test("a form whose sender hangs up is the sender's fault, and no error of the service", async () => {
  const cut = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from("operator=A"));
      controller.error(new Error("aborted"));
    },
  });
  assert.deepEqual(await post(cut), [400, "INVALID_REQUEST"]);
});

test.run();
