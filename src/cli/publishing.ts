import { defineCommand } from "citty";
import { counted } from "../counted.ts";
import { TerminalError } from "../errors.ts";
import { redriveStar } from "../publishing/outbox.ts";
import { publishingBody, publishingState } from "../publishing/publishing-state.ts";
import { resolveFinding } from "../publishing/reconciliation-findings.ts";
import { UUID } from "../uuid.ts";
import { word } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

const refused = (message: string) => new TerminalError("NOT_FOUND", message);

const status = command({
  description: "Show what is left to publish, alarms, and where outbox and topics differ.",
  work: async () => publishingBody(await withDatabase(publishingState)),
  text({ pending, oldestPendingSeconds, findings, lastFindings, alarms }) {
    const age = oldestPendingSeconds === null ? "" : `, the oldest for ${oldestPendingSeconds} s`;
    const found = table(lastFindings, {
      id: "id",
      finding: "kind",
      where: ({ topicId, sequenceNumber, starId }) =>
        topicId === null ? starId : `${topicId} #${sequenceNumber}`,
      noticed: "noticedAt",
      resolved: "resolvedAt",
      detail: "detail",
    });
    return [
      `${counted(pending, "star")} to be published${age}; ${counted(findings, "open finding")}`,
      ...alarms.map(({ kind, subject, detail }) => `ALARM ${kind} ${subject} ${detail}`),
      ...(lastFindings.length === 0 ? [] : [found]),
    ].join("\n");
  },
});

const redrive = command({
  description:
    "Have a star that waits for its next try taken up now; never sends it under a new transaction.",
  args: { star: word("Id of the star.") },
  async work({ star }) {
    if (!UUID.test(star)) throw new Error(`${star.slice(0, 60)} is not the id of a star`);
    const how = { name: "publishing.redrive", subject: star };
    // Workers look every few seconds, so none has to be woken.
    const redriven = await act(how, async (sql) => {
      const found = await redriveStar({ sql, wake: () => undefined }, star);
      if (found.kind === "unknown") throw refused(`there is no star ${star}`);
      return found;
    });
    return { star, ...redriven };
  },
  text: ({ star, kind }) => `star ${star}: ${kind}`,
});

const resolve = command({
  description: "Set a finding aside that somebody has looked at; it stays written down.",
  args: { finding: word("Its number.") },
  async work({ finding }) {
    const id = Number(finding);
    if (!/^\d{1,15}$/.test(finding)) throw new Error(`${finding.slice(0, 60)} is not a number`);
    const how = { name: "publishing.resolve", subject: finding };
    await act(how, async (sql) => {
      if (!(await resolveFinding(sql, id))) throw refused(`there is no open finding ${id}`);
    });
    return { finding: id };
  },
  text: ({ finding }) => `finding ${finding} is set aside`,
});

export const subcommand = defineCommand({ subCommands: { status, redrive, resolve } });
