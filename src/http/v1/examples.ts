import type { z } from "zod";

/** An example of one language, as `x-codeSamples` has it. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** What an example is made of: a row of the endpoint table. */
export interface Exemplified {
  readonly path: string;
  readonly key: boolean;
  readonly query: z.ZodObject;
  readonly parameters: z.ZodObject;
}

/** What a reader may put in the place of a parameter: it finds something in the demo's directory. */
export const EXAMPLE_VALUES: Readonly<Record<string, string | number>> = {
  id: "harbour-meetup",
  status: "live",
  category: "DATA",
  country: "DE",
  limit: 10,
};
/** More would hide what the example is about. */
const QUERY_MAX = 2;

/** How to call an endpoint by `curl` and by the typed client. */
export function samplesOf(row: Exemplified, baseUrl: string): readonly CodeSample[] {
  const path = exampleOf(row.parameters, Number.POSITIVE_INFINITY);
  const query = exampleOf(row.query, QUERY_MAX);
  return [
    { lang: "Shell", label: "curl", source: curl({ row, baseUrl, path, query }) },
    { lang: "TypeScript", label: "TypeScript", source: typescript({ row, baseUrl, path, query }) },
  ];
}

/** The same for readers of the description: Swagger UI shows no `x-codeSamples`. */
export function asMarkdown(samples: readonly CodeSample[]): string {
  return samples
    .map(({ label, source }) => `**${label}**\n\n\`\`\`\n${source}\n\`\`\``)
    .join("\n\n");
}

type Values = Readonly<Record<string, string | number>>;

interface Example {
  readonly row: Exemplified;
  readonly baseUrl: string;
  readonly path: Values;
  readonly query: Values;
}

function exampleOf(shape: z.ZodObject, most: number): Values {
  const known = Object.keys(shape.shape).flatMap((name) => {
    const value = EXAMPLE_VALUES[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known.slice(0, most));
}

function curl({ row, baseUrl, path, query }: Example): string {
  const filled = row.path.replace(/\{(\w+)\}/g, (_, name: string) => String(path[name] ?? name));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  const url = `${baseUrl}${filled}${search === "" ? "" : `?${search}`}`;
  const key = row.key ? '-H "Authorization: Bearer $STARBOARD_API_KEY" ' : "";
  return `curl ${key}"${url}"`;
}

function typescript({ row, baseUrl, path, query }: Example): string {
  const given = { ...path, ...query };
  const asked = `"${row.path}"${Object.keys(given).length > 0 ? `, ${literal(given)}` : ""}`;
  const isPaged = Object.hasOwn(row.query.shape, "offset");
  return `import { data } from "@starboard/client";

const starboard = data({
  baseUrl: "${baseUrl.replace(/\/v1$/, "")}",
  apiKey: \`\${process.env.STARBOARD_API_KEY}\`,
});
${
  isPaged
    ? `for await (const record of starboard.each(${asked})) console.log(record);`
    : `console.log(await starboard.get(${asked}));`
}`;
}

function literal(values: Values): string {
  const fields = Object.entries(values).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${fields.join(", ")} }`;
}
