import { defineCommand } from "citty";
import { withInstants } from "../../actors/day.ts";
import { issueKey, listKeys, revokeKey } from "../keys/api-keys.ts";
import { needed, word } from "./arguments.ts";
import { act, withDatabase } from "./database.ts";
import { command, table } from "./output.ts";

const issue = command({
  description: "Issue an API key for one person or project; it is shown only now.",
  args: {
    name: { ...needed("Whose key it is."), valueHint: "name" },
  },
  async work({ name }) {
    const issued = await act(
      { name: "keys.issue", subject: name },
      (sql) => issueKey(sql, name),
      ({ id }) => ({ details: { id } }),
    );
    return withInstants(issued);
  },
  text: ({ id, name, key }) =>
    `${key}\n\nThe key of ${name}. Keep it: it is not stored and cannot be shown again.\nTo revoke it: starboard keys revoke ${id}`,
});

const list = command({
  description: "List all keys ever issued.",
  work: async () => (await withDatabase(listKeys)).map(withInstants),
  text: (keys) =>
    table(keys, {
      id: "id",
      name: "name",
      key: ({ prefix }) => `${prefix}…`,
      created: "createdAt",
      "last used": "lastUsedAt",
      revoked: "revokedAt",
    }),
});

const revoke = command({
  description: "Revoke a key; it stops working at once.",
  args: {
    id: word("Id of the key, as `keys list` shows it."),
  },
  async work({ id }) {
    const how = { name: "keys.revoke", subject: id };
    return withInstants(await act(how, (sql) => revokeKey(sql, id)));
  },
  text: ({ id, revokedAt }) => `${id} is revoked since ${revokedAt}`,
});

export const subcommand = defineCommand({ subCommands: { issue, list, revoke } });
