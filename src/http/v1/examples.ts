import type { z } from "zod";
import type { Endpoint } from "./endpoint.ts";

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

type Values = Readonly<Record<string, string | number>>;

function exampleOf(shape: z.ZodObject, most = Number.POSITIVE_INFINITY): Values {
  const known = Object.keys(shape.shape).flatMap((name) => {
    const value = EXAMPLE_VALUES[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known.slice(0, most));
}

/** How to call an endpoint by `curl`. */
export function curlOf({ path, key, query, parameters }: Endpoint, baseUrl: string): string {
  const values = exampleOf(parameters);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? name));
  const asked = Object.entries(exampleOf(query, QUERY_MAX)).map(
    ([name, value]) => `${name}=${value}`,
  );
  const search = asked.length === 0 ? "" : `?${asked.join("&")}`;
  const header = key ? '-H "Authorization: Bearer $STARBOARD_API_KEY" ' : "";
  return `curl ${header}"${baseUrl}${filled}${search}"`;
}

/** How to call an endpoint by the typed client. */
export function typescriptOf({ path, query, parameters }: Endpoint, baseUrl: string): string {
  const given = { ...exampleOf(parameters), ...exampleOf(query, QUERY_MAX) };
  const asked = `"${path}"${Object.keys(given).length > 0 ? `, ${literal(given)}` : ""}`;
  const isPaged = Object.hasOwn(query.shape, "offset");
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
