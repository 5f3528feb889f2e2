import { z } from "zod";
import { type ProblemCode, standingReply } from "../problem.ts";
import type { Endpoint } from "./endpoint.ts";
import { asMarkdown, EXAMPLE_VALUES, samplesOf } from "./examples.ts";
import { API_NAME, API_VERSION, NOTICES } from "./notices.ts";
import { errorSchema, invalidParameterSchema, plainErrorSchema } from "./schemas.ts";

type Json = { readonly [name: string]: unknown };
/** What an operation answers, by status. */
export type Replies = Readonly<Record<string, Json>>;
type OpenApi = Json & { readonly openapi: string };

const DATA_TAG = { name: "Data", description: "An API key is needed." };
const OPEN_TAG = { name: "About", description: "What describes this API; open to everyone." };

/** The OpenAPI 3.1 document of a table: nothing in it is written by hand but words. */
export function openApiDocument(table: readonly Endpoint[], baseUrl: string): OpenApi {
  const schemas: Record<string, unknown> = {};
  return documentOf({
    title: API_NAME,
    summary: "Read-only data of a Hedera-ecosystem directory whose users vote with stars.",
    url: baseUrl,
    tags: [DATA_TAG, OPEN_TAG],
    paths: Object.fromEntries(
      table.map((row) => [row.path, { get: operation(row, schemas, baseUrl) }]),
    ),
    schemas,
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "The API key. Preferred." },
      query: { type: "apiKey", in: "query", name: "api_key" },
    },
  });
}

/** An OpenAPI document with what every one of ours says. */
export function documentOf(given: {
  readonly title: string;
  readonly summary: string;
  readonly url: string;
  readonly tags: readonly Json[];
  readonly paths: Json;
  readonly schemas: Json;
  readonly securitySchemes: Json;
}): OpenApi {
  const { title, summary, url, tags, paths, ...components } = given;
  return {
    openapi: "3.1.0",
    info: { title, version: API_VERSION, summary, description: NOTICES.join("\n\n") },
    servers: [{ url }],
    tags,
    paths,
    components,
  };
}

function operation(row: Endpoint, schemas: Record<string, unknown>, baseUrl: string): Json {
  const samples = samplesOf(row, baseUrl);
  const coded = (code: ProblemCode, description: string) =>
    problem(description, errorSchema, schemas, { error: standingReply(code).text, code });
  const plain = (description: string, error: string) =>
    problem(description, plainErrorSchema, schemas, { error });
  return {
    operationId: row.name,
    summary: row.description,
    description: asMarkdown(samples),
    tags: [row.key ? DATA_TAG.name : OPEN_TAG.name],
    "x-codeSamples": samples,
    security: row.key ? [{ bearer: [] }, { query: [] }] : [],
    // In the query an example would be a filter that is not wanted.
    parameters: [
      ...parametersOf(row.parameters, "path").map((parameter) => ({
        ...parameter,
        example: EXAMPLE_VALUES[String(parameter.name)],
      })),
      ...parametersOf(row.query, "query"),
    ],
    responses: counted({
      200: {
        description: "OK",
        headers: etagHeader,
        content: jsonContent(row.response, schemas),
      },
      ...notModified,
      400: problem("A parameter is not valid.", invalidParameterSchema, schemas),
      ...(row.key && {
        401: {
          ...coded("INVALID_API_KEY", "MISSING_API_KEY, INVALID_API_KEY or REVOKED_API_KEY."),
          headers: { "WWW-Authenticate": textHeader("Bearer") },
        },
      }),
      ...(Object.keys(row.parameters.shape).length > 0 && {
        404: coded("NOT_FOUND", "NOT_FOUND: no approved record has this id."),
      }),
      405: {
        ...plain("Another method than GET, on any path.", "Only GET is accepted here."),
        headers: { Allow: textHeader("GET") },
      },
      429: {
        ...plain(
          "More than 100 requests per minute of one client.",
          standingReply("RATE_LIMITED").text,
        ),
        headers: waitHeader,
      },
      500: coded("INTERNAL", "INTERNAL."),
      503: {
        ...coded("UNAVAILABLE", "UNAVAILABLE: try again."),
        headers: waitHeader,
      },
    }),
  };
}

/** Replies behind a rate limit: each has its headers (contract, section 2). */
export function counted(replies: Replies): Replies {
  return Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => [
      status,
      { ...reply, headers: { ...rateHeaders, ...Object(reply.headers) } },
    ]),
  );
}

/** The parameters of a shape, in path or query. */
export function parametersOf(shape: z.ZodObject, where: "path" | "query"): Json[] {
  return Object.entries(shape.shape).map(([name, schema]) => {
    const { $schema: _, description, ...json } = z.toJSONSchema(schema, { io: "output" });
    const required = where === "path" || !schema.safeParse(undefined).success;
    // An enumeration whose values are a setting that is not set is `not: {}`, of no type.
    return { name, in: where, required, description, schema: { type: "string", ...json } };
  });
}

/** A header that says this. */
export const textHeader = (description: string): Json => ({
  description,
  schema: { type: "string" },
});

/** On every reply behind a rate limit. */
const rateHeaders: Json = {
  "RateLimit-Policy": textHeader("The limit: q requests in w seconds."),
  RateLimit: textHeader("How it stands: r requests remain; in t seconds more are free."),
};

export const waitHeader: Json = { "Retry-After": textHeader("Whole seconds to wait.") };

/** On what can be asked for again by its ETag, and the answer to that. */
export const etagHeader: Json = {
  ETag: textHeader("Names this body; send it as If-None-Match."),
};
export const notModified: Replies = {
  304: {
    description: "The client already has this body (If-None-Match).",
    headers: etagHeader,
  },
};

function problem(
  description: string,
  schema: z.ZodType,
  schemas: Record<string, unknown>,
  example?: Json,
): Json {
  return { description, content: withExample(jsonContent(schema, schemas), example) };
}

/** The same bodies, with one to look at. */
export function withExample(content: Json, example: unknown): Json {
  if (example === undefined) return content;
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, { ...(media as Json), example }]),
  );
}

/** A JSON body; what its schema refers to goes into `schemas`, those of the whole document. */
export function jsonContent(
  schema: z.ZodType,
  schemas: Record<string, unknown>,
  io: "input" | "output" = "output",
): Json {
  return { "application/json": { schema: component(schema, schemas, io) } };
}

/** Puts a schema and all it refers to under `components`; returns the reference to it. */
function component(
  schema: z.ZodType,
  schemas: Record<string, unknown>,
  io: "input" | "output",
): Json {
  const made = z.toJSONSchema(z.strictObject({ it: schema }), {
    io,
    override({ jsonSchema }) {
      // "Within /v1 only additions": a client must not choke on a new field of a reply.
      if (io === "output" && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const placed: { $defs?: Json; properties: { it: Json } } = JSON.parse(
    JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
  Object.assign(schemas, placed.$defs);
  return placed.properties.it;
}
