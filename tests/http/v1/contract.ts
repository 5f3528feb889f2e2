/**
 * The published OpenAPI document as a judge of replies. It understands every keyword that the
 * document uses and refuses to judge by any other, and it wants no field that is not named.
 */
type Schema = Readonly<Record<string, unknown>>;
interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
export interface OpenApi {
  readonly paths: Readonly<
    Record<string, { readonly get: { readonly responses: Readonly<Record<string, Answer>> } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** What clients act upon (contract, sections 2 and 3): where a reply has it, the document says so. */
export const PROMISED_HEADERS = [
  "RateLimit-Policy",
  "RateLimit",
  "ETag",
  "Retry-After",
  "Allow",
  "WWW-Authenticate",
  "Set-Cookie",
  "Idempotent-Replayed",
] as const;

/** A reply as it came. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * What the document has against a reply, a line each; empty when it agrees.
 *
 * @param path as the document spells it, or null for a path that it does not have
 */
export function violations(document: OpenApi, path: string | null, reply: Reply): string[] {
  if (path === null) return judgeUnknownPath(document, reply);
  const answer = document.paths[path]?.get.responses[String(reply.status)];
  if (answer === undefined) return [`${path} never answers ${reply.status}`];
  const named = Object.keys(answer.headers ?? {});
  const missing = named.filter((name) => !reply.headers.has(name));
  const unnamed = PROMISED_HEADERS.filter(
    (name) => reply.headers.has(name) && !named.includes(name),
  );
  const wrong = [
    ...missing.map((name) => `the header ${name} is missing`),
    ...unnamed.map((name) => `the header ${name} is not in the document`),
  ];
  if (answer.content === undefined) return reply.text === "" ? wrong : [...wrong, "it has a body"];
  const type = reply.headers.get("content-type") ?? "none";
  const schema = answer.content[type]?.schema;
  if (schema === undefined) return [...wrong, `its type is ${type}`];
  return [...wrong, ...judge(document, { schema, value: JSON.parse(reply.text), place: "body" })];
}

/** 404 for what is no endpoint; 405 and 429 come before the path is looked at. */
function judgeUnknownPath(document: OpenApi, reply: Reply): string[] {
  const name = { 404: "Error", 405: "PlainError", 429: "PlainError" }[reply.status];
  const schema = document.components.schemas[name ?? ""];
  if (schema === undefined) return [`an unknown path answers ${reply.status}`];
  return judge(document, { schema, value: JSON.parse(reply.text), place: "body" });
}

interface Judged {
  readonly schema: Schema;
  readonly value: unknown;
  readonly place: string;
}

const WORDS_ONLY = ["description", "default", "$schema", "id", "examples"];

function judge(document: OpenApi, { schema, value, place }: Judged): string[] {
  return Object.entries(schema).flatMap(([keyword, says]) => {
    if (WORDS_ONLY.includes(keyword)) return [];
    const check = checks[keyword];
    if (check === undefined) throw new Error(`the document says ${keyword}, which no check knows`);
    return check({ document, schema, value, place, says });
  });
}

type Check = (
  given: Judged & { readonly document: OpenApi; readonly says: unknown },
) => readonly string[];

const flaw = (isOne: boolean, text: string): readonly string[] => (isOne ? [text] : []);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const checks: Readonly<Record<string, Check>> = {
  $ref: ({ document, value, place, says }) => {
    const schema = document.components.schemas[String(says).split("/").at(-1) ?? ""];
    return schema === undefined
      ? [`${says} is nowhere`]
      : judge(document, { schema, value, place });
  },
  type: ({ value, place, says }) =>
    flaw(![says].flat().some((type) => isOfType(value, String(type))), `${place} is no ${says}`),
  properties: ({ document, schema: whole, value, place, says }) => {
    if (!isObject(value)) return [];
    const known = says as Readonly<Record<string, Schema>>;
    return Object.entries(value).flatMap(([name, field]) => {
      const schema = known[name];
      if (schema === undefined) {
        return flaw(
          !isObject(whole.additionalProperties),
          `${place}.${name} is not in the document`,
        );
      }
      return judge(document, { schema, value: field, place: `${place}.${name}` });
    });
  },
  required: ({ value, place, says }) =>
    isObject(value)
      ? (says as string[])
          .filter((name) => !(name in value))
          .map((name) => `${place} has no ${name}`)
      : [],
  items: ({ document, value, place, says }) =>
    Array.isArray(value)
      ? value.flatMap((item, index) =>
          judge(document, { schema: says as Schema, value: item, place: `${place}[${index}]` }),
        )
      : [],
  anyOf: ({ document, value, place, says }) => {
    const tries = (says as Schema[]).map((schema) => judge(document, { schema, value, place }));
    return tries.some((wrong) => wrong.length === 0) ? [] : tries.flat();
  },
  enum: ({ value, place, says }) =>
    flaw(!(says as unknown[]).includes(value), `${place} is ${value}, none of ${says}`),
  const: ({ value, place, says }) => flaw(value !== says, `${place} is ${value}, not ${says}`),
  format: ({ value, place, says }) => {
    if (says !== "date-time") throw new Error(`the format ${says} is not checked`);
    const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value));
    return flaw(typeof value === "string" && !isInstant, `${place} is no instant: ${value}`);
  },
  pattern: ({ value, place, says }) =>
    flaw(
      typeof value === "string" && !new RegExp(String(says), "u").test(value),
      `${place} is not like ${says}`,
    ),
  minimum: ({ value, place, says }) =>
    flaw(typeof value === "number" && value < Number(says), `${place} is below ${says}`),
  maximum: ({ value, place, says }) =>
    flaw(typeof value === "number" && value > Number(says), `${place} is above ${says}`),
  maxLength: ({ value, place, says }) =>
    flaw(typeof value === "string" && [...value].length > Number(says), `${place} is too long`),
  // Where it stands it allows more fields; `properties` looks for it.
  additionalProperties: () => [],
};

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isSafeInteger(value);
    default:
      return typeof value === type;
  }
}
