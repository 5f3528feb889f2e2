import { z } from "zod";
import { type ProblemCode, standingReply } from "../problem.ts";
import { asMarkdown } from "../v1/examples.ts";
import { API_NAME } from "../v1/notices.ts";
import {
  counted,
  documentOf,
  etagHeader,
  jsonContent,
  notModified,
  parametersOf,
  type Replies,
  textHeader,
  waitHeader,
  withExample,
} from "../v1/openapi.ts";
import { examples, refusalExample, samplesOf } from "./examples.ts";
import { codesOf, type Operation, type OperationName, operations } from "./operations.ts";
import { refusalSchemas } from "./schemas.ts";

type Json = { readonly [name: string]: unknown };

const SESSION_TAG = { name: "Signed in", description: "A session is needed." };
const OPEN_TAG = { name: "Open", description: "Anyone may ask." };
const SECURITY = [{ bearer: [] }, { cookie: [] }];

/**
 * The OpenAPI 3.1 document of the voting API, made from the table of its operations.
 *
 * @param publicUrl where clients find us
 */
export function votingDocument(publicUrl: string): Json {
  const schemas: Record<string, unknown> = {};
  const url = publicUrl.replace(/\/+$/, "");
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, row] of Object.entries<Operation>(operations)) {
    const known = paths[row.path] ?? {};
    known[row.method.toLowerCase()] = operation(name as OperationName, row, { schemas, url });
    paths[row.path] = known;
  }
  return documentOf({
    title: `${API_NAME} voting`,
    summary: "Stars of Hedera wallets for a directory's events, tokens, collections and projects.",
    url: `${url}/voting`,
    tags: [OPEN_TAG, SESSION_TAG],
    paths,
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
  });
}

function operation(
  name: OperationName,
  row: Operation,
  { schemas, url }: { readonly schemas: Record<string, unknown>; readonly url: string },
): Json {
  const { path, description, session, query, body } = row;
  const samples = samplesOf(name, row, url);
  const { request, reply } = examples[name];
  return {
    operationId: name,
    summary: description,
    description: asMarkdown(samples),
    tags: [session ? SESSION_TAG.name : OPEN_TAG.name],
    "x-codeSamples": samples,
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
    responses: {
      ...counted({
        ...success(name, row, { schemas, example: reply }),
        ...refusals(row, schemas),
      }),
      default: early(schemas),
    },
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

const signedOut: Json = {
  "Set-Cookie": textHeader("Takes the cookie away, where the session stood in it."),
};
const REPLY_HEADERS: Readonly<Partial<Record<OperationName, Json>>> = {
  readVotingOpenApi: etagHeader,
  readConfig: etagHeader,
  listItems: etagHeader,
  openSession: { "Set-Cookie": textHeader("The session, where `cookie` is true.") },
  endSession: signedOut,
  endSessions: signedOut,
  castStar: { "Idempotent-Replayed": textHeader("true: this is the first reply again.") },
};

function success(
  name: OperationName,
  { path, status, response }: Operation,
  { schemas, example }: { readonly schemas: Record<string, unknown>; readonly example: unknown },
): Replies {
  const headers = REPLY_HEADERS[name] ?? {};
  if (response === null) return { [status]: { description: "Done.", headers } };
  const content =
    path === "/live"
      ? { "text/event-stream": { schema: { type: "string" } } }
      : jsonContent(response, schemas);
  const shown = withExample(content, example);
  return {
    [status]: { description: "OK", headers, content: shown },
    ...("ETag" in headers && notModified),
  };
}

/** One reply per status; its body's `code` is one of those of the operation. */
function refusals(row: Operation, schemas: Record<string, unknown>): Replies {
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
        ...((status === 429 || status === 503) && waitHeader),
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
    headers: { Allow: textHeader("The methods of this path.") },
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

/** Refusals of requests that never reached an operation. */
const EARLY = ["HEADERS_TOO_LARGE", "REQUEST_TIMEOUT"] as const;

/** Its schema has every code, for clients: they get any of them from anywhere. */
function early(schemas: Record<string, unknown>): Json {
  const all = Object.values<Operation>(operations).flatMap(codesOf);
  const codes = [...new Set([...all, ...EARLY, "METHOD_NOT_ALLOWED"])].sort();
  return {
    description: EARLY.map((code) => `${code}: ${standingReply(code).text}`).join("\n\n"),
    content: withExample(
      jsonContent(plain(codes).meta({ id: "Refusal" }), schemas),
      refusalExample(EARLY[0]),
    ),
  };
}
