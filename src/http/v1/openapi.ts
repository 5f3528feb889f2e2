import type { z } from "zod";
import {
  type Bodies,
  counted,
  describedBySamples,
  documentOf,
  etagHeader,
  type Json,
  notModified,
  parametersOf,
  textHeader,
  waitHeader,
} from "../openapi.ts";
import { type ProblemCode, standingReply } from "../problem.ts";
import type { Endpoint } from "./endpoint.ts";
import { API_NAME } from "./notices.ts";
import { errorSchema, invalidParameterSchema, plainErrorSchema } from "./schemas.ts";

const DATA_TAG = { name: "Data", description: "An API key is needed." };
const OPEN_TAG = { name: "About", description: "What describes this API; open to everyone." };

/** The OpenAPI 3.1 document of a table: nothing in it is written by hand but words. */
export function openApiDocument(table: readonly Endpoint[], baseUrl: string) {
  return documentOf({
    title: API_NAME,
    summary: "Read-only data of a Hedera-ecosystem directory whose users vote with stars.",
    url: baseUrl,
    tags: [DATA_TAG, OPEN_TAG],
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "The API key. Preferred." },
      query: { type: "apiKey", in: "query", name: "api_key" },
    },
    paths: (bodies) =>
      Object.fromEntries(table.map((row) => [row.path, { get: operation(row, bodies, baseUrl) }])),
  });
}

function operation(row: Endpoint, { json, reply }: Bodies, baseUrl: string): Json {
  const coded = (code: ProblemCode, description: string, headers: Json = {}): Json => ({
    ...reply(description, errorSchema, { error: standingReply(code).text, code }),
    headers,
  });
  const plain = (description: string, error: string, headers: Json): Json => ({
    ...reply(description, plainErrorSchema, { error }),
    headers,
  });
  return {
    operationId: row.name,
    summary: row.description,
    ...describedBySamples(curlOf(row, baseUrl), typescriptOf(row, baseUrl)),
    tags: [row.key ? DATA_TAG.name : OPEN_TAG.name],
    security: row.key ? [{ bearer: [] }, { query: [] }] : [],
    // In the query an example would be a filter that is not wanted.
    parameters: [
      ...parametersOf(row.parameters, "path").map((parameter) => ({
        ...parameter,
        example: EXAMPLE_VALUES[String(parameter.name)],
      })),
      ...parametersOf(row.query, "query"),
    ],
    responses: {
      ...counted({
        200: { description: "OK", headers: etagHeader, content: json(row.response) },
        ...notModified,
        400: reply("A parameter is not valid.", invalidParameterSchema),
        ...(row.key && {
          401: coded("INVALID_API_KEY", "MISSING_API_KEY, INVALID_API_KEY or REVOKED_API_KEY.", {
            "WWW-Authenticate": textHeader("Bearer"),
          }),
        }),
        ...(Object.keys(row.parameters.shape).length > 0 && {
          404: coded("NOT_FOUND", "NOT_FOUND: no approved record has this id."),
        }),
        405: plain("Another method than GET, on any path.", "Only GET is accepted here.", {
          Allow: textHeader("GET"),
        }),
        429: plain(
          "More requests of one client in 60 s than `RateLimit-Policy` says: 100, unless this service sets another number.",
          standingReply("RATE_LIMITED").text,
          waitHeader,
        ),
        500: coded("INTERNAL", "INTERNAL."),
        503: coded("UNAVAILABLE", "UNAVAILABLE: try again.", waitHeader),
      }),
      // Before anything is counted: the request did not arrive.
      408: coded("REQUEST_TIMEOUT", "REQUEST_TIMEOUT."),
      431: coded("HEADERS_TOO_LARGE", "HEADERS_TOO_LARGE."),
    },
  };
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
