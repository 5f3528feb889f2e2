import { defineCommand } from "citty";
import { instant, withInstants } from "../../actors/day.ts";
import {
  addOperator,
  changeRole,
  listOperators,
  ROLES,
  revokeOperator,
} from "../keys/operators.ts";
import { readOperatorLog } from "../store/operator-log.ts";
import { needed, option, readWhole, word } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

const NAME = { name: word("The operator's name.") };
const NAME_AND_ROLE = {
  ...NAME,
  role: { ...needed(`One of ${ROLES.join(", ")}.`), valueHint: "role" },
};
const LINES_DEFAULT = 100;
const LINES_MAX = 10_000;

const add = command({
  description: "Add an operator; the token is shown only now.",
  args: NAME_AND_ROLE,
  async work({ name, role }) {
    const added = await act(
      { name: "operators.add", subject: name },
      (sql) => addOperator(sql, { name, role }),
      () => ({ details: { role } }),
    );
    return withInstants(added);
  },
  text: ({ name, role, token }) =>
    `${token}\n\nThe token of ${name}, ${role}. Keep it: it is not stored and cannot be shown again.\nTo revoke it: starboard operators revoke ${JSON.stringify(name)}`,
});

const list = command({
  description: "List all operators, revoked ones too; not the bearer of OPERATOR_TOKEN.",
  work: async () => (await withDatabase(listOperators)).map(withInstants),
  text: (operators) =>
    table(operators, {
      name: "name",
      role: "role",
      created: "createdAt",
      "last used": "lastUsedAt",
      revoked: "revokedAt",
    }),
});

const change = command({
  description: "Give an operator another role; it counts at once.",
  args: NAME_AND_ROLE,
  work({ name, role }) {
    return act(
      { name: "operators.change", subject: name },
      (sql) => changeRole(sql, { name, role }),
      () => ({ details: { role } }),
    );
  },
  text: ({ name, role }) => `${name} is ${role} now`,
});

const revoke = command({
  description: "Revoke an operator; token and sessions end at once.",
  args: NAME,
  async work({ name }) {
    const how = { name: "operators.revoke", subject: name };
    return withInstants(await act(how, (sql) => revokeOperator(sql, name)));
  },
  text: ({ name, revokedAt }) => `${name} is revoked since ${revokedAt}`,
});

const log = command({
  description: "Show the newest acts of the operator log, newest first.",
  args: {
    limit: option(`At most so many; default ${LINES_DEFAULT}.`),
  },
  async work({ limit = String(LINES_DEFAULT) }) {
    const most = readWhole(limit, { name: "--limit", min: 1, max: LINES_MAX });
    const lines = await withDatabase((sql) => readOperatorLog(sql, { limit: most }));
    return lines.map((line) => ({ ...line, at: instant(line.at) }));
  },
  text: (lines) =>
    table(lines, {
      when: "at",
      who: "operator",
      from: "origin",
      act: "action",
      about: "subject",
      "how it ended": ({ phase, notice, reason }) =>
        [phase, notice, reason].filter(Boolean).join(" · "),
    }),
});

export const subcommand = defineCommand({ subCommands: { add, list, change, revoke, log } });
