import { migrate } from "../store/migrate.ts";
import { command } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

export const subcommand = command({
  async work() {
    const { DATABASE_URL } = readCommandSettings(["DATABASE_URL"]);
    return { applied: await migrate(DATABASE_URL) };
  },
  text: ({ applied }) =>
    applied.length === 0
      ? "the schema is up to date"
      : applied.map(({ version, name }) => `applied ${version} ${name}`).join("\n"),
});
