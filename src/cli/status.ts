import { readVerdict } from "../upkeep/service-verdict.ts";
import { checksText } from "./checks-text.ts";
import { withDatabase } from "./database.ts";
import { command } from "./output.ts";

/** `starboard status`: the verdict that the console shows too. */
export const subcommand = command({
  async work() {
    const verdict = await withDatabase(readVerdict);
    if (!verdict.ok) process.exitCode = 1;
    return verdict;
  },
  text: ({ checks }) =>
    checksText(checks, {
      since: "since",
      meanwhile: "meanwhile",
      "what to do": "fix",
      runbook: "runbook",
    }),
});
