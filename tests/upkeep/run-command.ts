/** The command alone, as a process of its own. */
import { runMain } from "citty";
import { holdingsCheckCommand } from "../../src/cli/holdings-check.ts";

await runMain(holdingsCheckCommand);
