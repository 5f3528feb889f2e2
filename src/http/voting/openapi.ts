import { z } from "zod";
import {
  type Bodies,
  counted,
  describedBySamples,
  documentOf,
  etagHeader,
  type Json,
  notModified,
  parametersOf,
  type Replies,
  textHeader,
  waitHeader,
} from "../openapi.ts";
import { type ProblemCode, standingReply } from "../problem.ts";
import { API_NAME } from "../v1/notices.ts";
import { curlOf, examples, refusalExample, typescriptOf } from "./examples.ts";
import { codesOf, type Operation, type OperationName, operations } from "./operations.ts";
import { refusalSchemas } from "./schemas.ts";

const SESSION_TAG = { name: "Signed in", description: "A session is needed." };
const OPEN_TAG = { name: "Open", description: "Anyone may ask." };
const SECURITY = [{ bearer: [] }, { cookie: [] }];

/**
 * The OpenAPI 3.1 document of the voting API, made from the table of its operations.
 *
 * @param publicUrl where clients find us
 */
export function votingDocument(publicUrl: string): Json {
  const url = publicUrl.replace(/\/+$/, "");
  return documentOf({
    title: `${API_NAME} voting`,
    summary: "Stars of Hedera wallets for a directory's events, tokens, collections and projects.",
    url: `${url}/voting`,
    tags: [OPEN_TAG, SESSION_TAG],
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "The session's token." },
      cookie: {
        type: "apiKey",
        in: "cookie",
        name: "__Host-starboard",
        description: "For the service's own pages; named `starboard` on loopback over http.",
      },
    },
    paths(bodies) {
      const paths: Record<string, Json> = {};
      for (const [name, row] of Object.entries<Operation>(operations)) {
        const made = operation(name as OperationName, row, { bodies, url });
        paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: made };
      }
      return paths;
    },
  });
}

function operation(
  name: OperationName,
  row: Operation,
  { bodies, url }: { readonly bodies: Bodies; readonly url: string },
): Json {
  const { path, description, session, query, body } = row;
  return {
    operationId: name,
    summary: description,
    ...describedBySamples(curlOf(name, row, url), typescriptOf(name, row, url)),
    tags: [session ? SESSION_TAG.name : OPEN_TAG.name],
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
        content: bodies.json(body, examples[name].request, "input"),
      },
    }),
    responses: {
      ...counted({ ...success(name, row, bodies), ...refusals(row, bodies) }),
      default: early(bodies),
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
  { json }: Bodies,
): Replies {
  const headers = REPLY_HEADERS[name] ?? {};
  if (response === null) return { [status]: { description: "Done.", headers } };
  const example = examples[name].reply;
  const content =
    path === "/live"
      ? { "text/event-stream": { schema: { type: "string" }, example } }
      : json(response, example);
  return {
    [status]: { description: "OK", headers, content },
    ...("ETag" in headers && notModified),
  };
}

/** One reply per status; its body's `code` is one of those of the operation. */
function refusals(row: Operation, { reply }: Bodies): Replies {
  const codes = new Map<number, ProblemCode[]>();
  for (const code of codesOf(row)) {
    const { status } = standingReply(code);
    codes.set(status, [...(codes.get(status) ?? []), code]);
  }
  const replies = [...codes].map(([status, of]) => [
    status,
    {
      ...reply(textsOf(of), refusalOf(of), refusalExample(of[0] ?? "INTERNAL")),
      headers: {
        ...((status === 429 || status === 503) && waitHeader),
        ...(status === 401 && { "WWW-Authenticate": textHeader("Bearer") }),
      },
    },
  ]);
  const wrongMethod = {
    ...reply("METHOD_NOT_ALLOWED: another method than `Allow` names.", plain([WRONG_METHOD]), {
      error: "Only GET is accepted here.",
      code: WRONG_METHOD,
    }),
    headers: { Allow: textHeader("The methods of this path.") },
  };
  return { ...Object.fromEntries(replies), 405: wrongMethod };
}

const WRONG_METHOD = "METHOD_NOT_ALLOWED";

function textsOf(codes: readonly ProblemCode[]): string {
  return codes.map((code) => `${code}: ${standingReply(code).text}`).join("\n\n");
}

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
function early({ reply }: Bodies): Json {
  const all = Object.values<Operation>(operations).flatMap(codesOf);
  const codes = [...new Set([...all, ...EARLY, WRONG_METHOD])].sort();
  return reply(textsOf(EARLY), plain(codes).meta({ id: "Refusal" }), refusalExample(EARLY[0]));
}
