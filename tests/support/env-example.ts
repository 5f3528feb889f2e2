import { settings } from "../../src/config.ts";

/**
 * The text of `.env.example`: every setting with what it is for and its default, in the
 * order of the configuration. Generated, so that it cannot fall behind.
 */
export function envExample(): string {
  const lines = Object.entries(settings.shape).flatMap(([name, schema]) => {
    const fallback = schema.safeParse(undefined);
    const value = fallback.success ? defaultText(fallback.data) : "";
    return [`# ${schema.description ?? ""}`, `# ${name}=${value}`, ""];
  });
  return `${[...HEAD, ...lines].join("\n").trimEnd()}\n`;
}

const HEAD = [
  "# Starboard reads its settings from the environment, and from a .env file below it.",
  "# With nothing set, `npm start` runs everything on one machine.",
  "",
];

function defaultText(value: unknown): string {
  return value === undefined || Array.isArray(value) ? "" : String(value);
}
