import { defineCommand } from "citty";
import { counted } from "../counted.ts";
import { acceptLoss, journalStatus } from "../publishing/journal-behind.ts";
import { needed } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { recoverCommand } from "./journal-recover.ts";
import { command, table } from "./output.ts";

const status = command({
  description: "Show how far topics and journal agree, as far as the topics were read.",
  work: () => withDatabase(journalStatus),
  text({ lost, topics }) {
    const columns = { topic: "topicId", read: "read", lost: "lost", known: "known" } as const;
    return [
      lost === 0
        ? "the journal holds every star that its topics hold"
        : `the journal lacks ${counted(lost, "star")} that its topics hold; no star is accepted until ` +
          "`starboard journal recover` or `starboard journal accept-loss`",
      ...(topics.length === 0 ? [] : [table(topics, columns)]),
    ].join("\n");
  },
});

const accept = command({
  description: "Go on without the stars that the journal lacks: their messages are known from now.",
  args: {
    reason: needed("Why; kept in the operator log."),
  },
  async work({ reason }) {
    if (reason.trim() === "") throw new Error("--reason is empty");
    const how = { name: "journal.accept-loss", subject: "journal", reason };
    const accepted = await act(how, acceptLoss, (accepted) => ({
      notice: `${counted(accepted, "message")} without a star in this journal.`,
      details: { accepted },
    }));
    return { accepted, reason };
  },
  text: ({ accepted }) => `${counted(accepted, "message")} known to have no star in this journal`,
});

export const subcommand = defineCommand({
  subCommands: { status, "accept-loss": accept, recover: recoverCommand },
});
