import { FakeLedger } from "../support/fake-topic.ts";
import { topicContract } from "./topic.contract.ts";

topicContract("in memory", async () => {
  const ledger = new FakeLedger();
  return {
    topic: ledger.topic(),
    topicId: "0.0.7001",
    now: () => ledger.now,
    messages: async () =>
      ledger.messages.map(({ bytes, runningHash }) => ({ text: bytes.toString(), runningHash })),
    fault: (fault) => void ledger.sendFaults.push(fault),
    close: async () => undefined,
  };
});
