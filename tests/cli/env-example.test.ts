import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import { settings } from "../../src/config.ts";
import { envExample } from "../support/env-example.ts";

test(".env.example names every setting, with its meaning and default", () => {
  const file = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
  assert.equal(file, envExample());
  for (const [name, schema] of Object.entries(settings.shape)) {
    assert.match(file, new RegExp(`^# ${name}=`, "m"));
    assert.ok(schema.description, `${name} says what it is for`);
  }
});

test.run();
