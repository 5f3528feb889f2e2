import { z } from "zod";
import { type ProblemCode, standingReply } from "../problem.ts";
import { API_NAME, API_VERSION, NOTICES } from "../v1/notices.ts";
import { jsonContent, parametersOf, rateHeaders, textHeader, withExample } from "../v1/openapi.ts";
import { examples, refusalExample } from "./examples.ts";
import { codesOf, type Operation, type OperationName, operations } from "./operations.ts";
import { refusalSchemas } from "./schemas.ts";

type Json = { readonly [name: string]: unknown };

const SECURITY = [{ bearer: [] }, { cookie: [] }];

/**
 * The OpenAPI 3.1 document of the voting API, made from the table of its operations.
 *
 * @param publicUrl where clients find us
 */
export function votingDocument(publicUrl: string): Json {
  const schemas: Record<string, unknown> = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, row] of Object.entries<Operation>(operations)) {
    const known = paths[row.path] ?? {};
    known[row.method.toLowerCase()] = operation(name, row, schemas);
    paths[row.path] = known;
  }
  // For clients, which get any of the codes from anywhere.
  jsonContent(anyRefusal(), schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: `${API_NAME} voting`,
      version: API_VERSION,
      summary:
        "Stars of Hedera wallets for a directory's events, tokens, collections and projects.",
      description: NOTICES.join("\n\n"),
    },
    servers: [{ url: `${publicUrl.replace(/\/+$/, "")}/voting` }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The session's token." },
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-starboard",
          description: "For the service's own pages; named `starboard` on loopback over http.",
        },
      },
    },
  };
}

function operation(name: string, row: Operation, schemas: Record<string, unknown>): Json {
  const { path, description, session, query, body } = row;
  const { request, reply } = examples[name as OperationName];
  return {
    operationId: name,
    summary: description,
    description,
    security: session ? SECURITY : [],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, id = ""]) => ({
        name: id,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...parametersOf(query, "query"),
      ...(HEADERS[name] ?? []),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: withExample(jsonContent(body, schemas, "input"), request),
      },
    }),
    responses: { ...success(row, schemas, reply), ...refusals(row, schemas) },
  };
}

const headerParameter = (name: string, description: string): Json => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string" },
});

const HEADERS: Readonly<Record<string, readonly Json[]>> = {
  castStar: [headerParameter("Idempotency-Key", "1 to 255 printable ASCII characters.")],
  followLive: [headerParameter("Last-Event-ID", "Of the last event that was heard.")],
};

function success(
  { path, status, response }: Operation,
  schemas: Record<string, unknown>,
  example: unknown,
): Json {
  if (response === null) return { [status]: { description: "Done.", headers: rateHeaders } };
  const content =
    path === "/live"
      ? { "text/event-stream": { schema: { type: "string" } } }
      : jsonContent(response, schemas);
  const shown = withExample(content, example);
  return { [status]: { description: "OK", headers: rateHeaders, content: shown } };
}

const wait = { "Retry-After": textHeader("Whole seconds to wait.") };

/** One reply per status; its body's `code` is one of those of the operation. */
function refusals(row: Operation, schemas: Record<string, unknown>): Json {
  const codes = new Map<number, ProblemCode[]>();
  for (const code of codesOf(row)) {
    const { status } = standingReply(code);
    codes.set(status, [...(codes.get(status) ?? []), code]);
  }
  const replies = [...codes].map(([status, of]) => [
    status,
    {
      description: of.map((code) => `${code}: ${standingReply(code).text}`).join("\n\n"),
      headers: {
        ...rateHeaders,
        ...((status === 429 || status === 503) && wait),
        ...(status === 401 && { "WWW-Authenticate": textHeader("Bearer") }),
      },
      content: withExample(
        jsonContent(refusalOf(of), schemas),
        refusalExample(of[0] ?? "INTERNAL"),
      ),
    },
  ]);
  const wrongMethod = {
    description: "METHOD_NOT_ALLOWED: another method than `Allow` names.",
    headers: { ...rateHeaders, Allow: textHeader("The methods of this path.") },
    content: withExample(jsonContent(plain(["METHOD_NOT_ALLOWED"]), schemas), {
      error: "Only GET is accepted here.",
      code: "METHOD_NOT_ALLOWED",
    }),
  };
  return { ...Object.fromEntries(replies), 405: wrongMethod };
}

/** The body of a refusal by one of these codes. */
function refusalOf(codes: readonly ProblemCode[]): z.ZodType {
  const rich = codes.flatMap((code) =>
    code in refusalSchemas ? [refusalSchemas[code as keyof typeof refusalSchemas]] : [],
  );
  const others = codes.filter((code) => !(code in refusalSchemas));
  const bodies = others.length > 0 ? [...rich, plain(others)] : rich;
  return bodies.length === 1 && bodies[0] !== undefined ? bodies[0] : z.union(bodies);
}

function plain(codes: readonly string[]): z.ZodType {
  return z.strictObject({ error: z.string(), code: z.enum(codes) });
}

function anyRefusal(): z.ZodType {
  const all = Object.values<Operation>(operations).flatMap(codesOf);
  return plain([...new Set([...all, "METHOD_NOT_ALLOWED"])].sort()).meta({ id: "Refusal" });
}
