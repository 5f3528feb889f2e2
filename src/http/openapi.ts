import { z } from "zod";
import { API_VERSION, NOTICES } from "./v1/notices.ts";

/** What the OpenAPI documents of both APIs are made of. */

export type Json = { readonly [name: string]: unknown };
/** What an operation answers, by status. */
export type Replies = Readonly<Record<string, Json>>;

/** The shape of a JSON object, which stands under a name of its own in a document. */
export function record<S extends z.ZodRawShape>(
  id: string,
  fields: S,
  example?: z.output<z.ZodObject<S>>,
) {
  return z.strictObject(fields).meta({ id, ...(example && { examples: [example] }) });
}

/** An OpenAPI 3.1 document with what every one of ours says. */
export function documentOf(given: {
  readonly title: string;
  readonly summary: string;
  readonly url: string;
  readonly tags: readonly Json[];
  readonly securitySchemes: Json;
  /** Its paths, whose bodies put their schemas into the document's. */
  readonly paths: (bodies: Bodies) => Json;
}): Json & { readonly openapi: string } {
  const { title, summary, url, tags, securitySchemes } = given;
  const schemas: Record<string, unknown> = {};
  return {
    openapi: "3.1.0",
    info: { title, version: API_VERSION, summary, description: NOTICES.join("\n\n") },
    servers: [{ url }],
    tags,
    paths: given.paths(bodiesIn(schemas)),
    components: { schemas, securitySchemes },
  };
}

/** The JSON bodies of a document; what their schemas refer to stands once under `components`. */
export type Bodies = ReturnType<typeof bodiesIn>;

function bodiesIn(schemas: Record<string, unknown>) {
  /** @param example one to look at; the schema's own when absent */
  const json = (schema: z.ZodType, example?: unknown, io: "input" | "output" = "output"): Json => ({
    "application/json": {
      schema: component(schema, schemas, io),
      ...(example !== undefined && { example }),
    },
  });
  /** A reply with a body. */
  const reply = (description: string, schema: z.ZodType, example?: unknown): Json => ({
    description,
    content: json(schema, example),
  });
  return { json, reply };
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

/** Replies behind a rate limit: each has its headers (contract, section 2). */
export function counted(replies: Replies): Replies {
  return Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => [
      status,
      { ...reply, headers: { ...rateHeaders, ...Object(reply.headers) } },
    ]),
  );
}

/** An example of one language, as `x-codeSamples` has it. */
interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** How to call an operation by `curl`, and by the typed client where it has a word for it. */
export function describedBySamples(curl: string, typescript?: string): Json {
  const samples: CodeSample[] = [{ lang: "Shell", label: "curl", source: curl }];
  if (typescript !== undefined)
    samples.push({ lang: "TypeScript", label: "TypeScript", source: typescript });
  // The same for readers of the description: Swagger UI shows no `x-codeSamples`.
  const shown = samples.map(({ label, source }) => `**${label}**\n\n\`\`\`\n${source}\n\`\`\``);
  return { description: shown.join("\n\n"), "x-codeSamples": samples };
}
