/** Goal: every error says something. Method: what Node throws for a host with two addresses. */
import * as assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "uvu";
import { command } from "../src/cli/output.ts";
import { coerceError, RetryableError } from "../src/errors.ts";
import { reasonOf } from "../src/upkeep/finding.ts";
import { runCli } from "./cli/run-cli.ts";

const BOTH = /^connect \w+ 127\.0\.0\.1:1\b.*; connect \w+ ::1:1\b/;

/** What a connection to such a host throws where no server listens. */
async function refusedByBoth(): Promise<unknown> {
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  const socket = connect({
    host: "two-addresses",
    port: 1,
    autoSelectFamily: true,
    lookup: (_host, _options, done) => done(null, addresses),
  });
  const [error] = await once(socket, "error");
  return error;
}

test("an error of several attempts says what each of them said", async () => {
  const error = await refusedByBoth();
  assert.ok(error instanceof AggregateError && error.message === "");
  assert.match(coerceError(error).message, BOTH);
});

test("so it does as the cause of an outage, to the doctor and on the command line", async () => {
  const outage = async () =>
    new RetryableError("UNAVAILABLE", "the database is out of reach", 1, await refusedByBoth());
  assert.match(reasonOf(await outage()), BOTH);
  const failing = command({
    description: "Fails",
    args: {},
    work: async () => Promise.reject(await outage()),
    text: String,
  });
  const { stderr } = await runCli(failing, []);
  assert.match(stderr.replace("the database is out of reach: ", ""), BOTH);
});

test.run();
