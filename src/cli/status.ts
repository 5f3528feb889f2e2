import { readVerdict } from "../upkeep/service-verdict.ts";
import { withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

/** `starboard status`: the verdict that the console shows too. */
export const statusCommand = command({
  name: "status",
  description: "Say whether the service does its work, and what to do where it does not.",
  args: {},
  async work() {
    const verdict = await withDatabase(readVerdict);
    if (!verdict.ok) process.exitCode = 1;
    return verdict;
  },
  text: ({ checks }) =>
    table(checks, {
      check: "name",
      "": ({ ok }) => (ok ? "ok" : "WRONG"),
      what: "message",
      since: "since",
      meanwhile: "meanwhile",
      "what to do": "fix",
      runbook: "runbook",
    }),
});
