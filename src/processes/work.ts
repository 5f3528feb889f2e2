import { clientAddress } from "../http/middleware/client-address.ts";
import { processCommand } from "./process-command.ts";
import { growHeapSlowly } from "./slow-heap-growth.ts";
import { startWorker, WORKER_SETTINGS } from "./worker.ts";

export const subcommand = processCommand({
  command: "work",
  role: "worker",
  needed: WORKER_SETTINGS,
  // By its own port alone a worker would notice later, when stars are sent already.
  checkSettings: ({ TRUSTED_PROXIES }) => clientAddress(TRUSTED_PROXIES),
  start(settings, given) {
    growHeapSlowly();
    return startWorker(settings, given);
  },
});
