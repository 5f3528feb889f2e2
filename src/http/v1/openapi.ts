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
import { curlOf, EXAMPLE_VALUES, typescriptOf } from "./examples.ts";
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
