/**
 * Goal: the list of commands describes each, and loads the one that is named alone. Method: each is
 * named once; then what the list has of the others is looked at.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { commands, subCommandsFor } from "../../src/processes/commands.ts";

for (const [name, [description]] of Object.entries(commands)) {
  test(`${name}: loaded when it is named, and described as in the list`, async () => {
    const load = subCommandsFor([name])[name];
    const loaded = typeof load === "function" ? await load() : undefined;
    assert.deepEqual(loaded?.meta, { name, description });
    assert.ok(loaded?.run !== undefined || loaded?.subCommands !== undefined);
  });
}

test("the named command is loaded, wherever options stand; the others are only listed", () => {
  for (const words of [
    ["actors", "show"],
    ["--json", "actors"],
  ]) {
    const { actors, audit } = subCommandsFor(words);
    assert.equal(typeof actors, "function");
    assert.deepEqual(audit, { meta: { name: "audit", description: commands.audit?.[0] } });
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
