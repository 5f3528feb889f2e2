import { z } from "zod";
import { record } from "../openapi.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { API_NAME, API_VERSION, TERMS } from "./notices.ts";
import { openApiDocument } from "./openapi.ts";
import { listedParameter, listParameters } from "./parameters.ts";

const directorySchema = record(
  "Directory",
  {
    name: z.string(),
    version: z.string(),
    documentation: z.string(),
    terms: z.string(),
    endpoints: z.array(
      z.strictObject({
        method: z.literal("GET"),
        path: z.string(),
        description: z.string(),
        key: z.boolean(),
        parameters: z.array(listedParameter),
      }),
    ),
  },
  {
    name: API_NAME,
    version: API_VERSION,
    documentation: "https://starboard.example/docs",
    terms: "Usage is subject to terms of use.",
    endpoints: [
      {
        method: "GET",
        path: "/openapi.json",
        description: "The OpenAPI 3.1 document of this API.",
        key: false,
        parameters: [],
      },
    ],
  },
);

/**
 * The whole table: the two endpoints that describe the API and need no key, then the data
 * endpoints. Both descriptions are made from the table itself.
 *
 * @param publicUrl the URL by which clients know this service
 */
export function describedTable(data: readonly Endpoint[], publicUrl: string): readonly Endpoint[] {
  const baseUrl = `${publicUrl.replace(/\/+$/, "")}/v1`;
  const directory: Endpoint = endpoint({
    path: "/",
    name: "readDirectory",
    description: "This directory: every endpoint and its parameters.",
    key: false,
    shows: [],
    response: directorySchema,
    answer: async () => ({ body: directoryOf(table, baseUrl), until: Number.POSITIVE_INFINITY }),
  });
  const openApi: Endpoint = endpoint({
    path: "/openapi.json",
    name: "readOpenApi",
    description: "The OpenAPI 3.1 document of this API.",
    key: false,
    shows: [],
    response: z
      .looseObject({ openapi: z.string() })
      .meta({ id: "OpenApi", examples: [{ openapi: "3.1.0" }] }),
    answer: async () => ({
      body: openApiDocument(table, baseUrl),
      until: Number.POSITIVE_INFINITY,
    }),
  });
  const table: readonly Endpoint[] = [directory, openApi, ...data];
  return table;
}

function directoryOf(
  table: readonly Endpoint[],
  baseUrl: string,
): z.output<typeof directorySchema> {
  return {
    name: API_NAME,
    version: API_VERSION,
    documentation: baseUrl.replace(/\/v1$/, "/docs"),
    terms: TERMS,
    endpoints: table.map(({ path, description, key, query, parameters }) => ({
      method: "GET",
      path,
      description,
      key,
      parameters: listParameters(query, parameters),
    })),
  };
}
