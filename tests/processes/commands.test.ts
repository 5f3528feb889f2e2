/**
 * Goal: the list of commands describes each as the command describes itself, and loads none of
 * them. Method: the table is held against the commands; then the process is asked what it has
 * loaded.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { commands, subCommandsFor } from "../../src/processes/commands.ts";

for (const [name, { description, load }] of Object.entries(commands)) {
  test(`${name}: as the command has it`, async () => {
    const loaded = await load();
    assert.deepEqual(loaded.meta, { name, description });
  });
}

test("the named command is loaded, wherever options stand; the others are only listed", () => {
  for (const words of [
    ["actors", "show"],
    ["--json", "actors"],
  ]) {
    const { actors, audit } = subCommandsFor(words);
    assert.equal(typeof actors, "function");
    assert.deepEqual(audit, { meta: { name: "audit", description: commands.audit?.description } });
  }
  for (const words of [[], ["--help"], ["unknown"]]) {
    for (const each of Object.values(subCommandsFor(words))) assert.equal(typeof each, "object");
  }
});

test("properties that every object has are no commands", () => {
  for (const word of ["constructor", "toString", "__proto__"]) {
    assert.equal(subCommandsFor([word])[word], undefined);
  }
});

test.run();
