import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/**
 * The mirror node's own OpenAPI document as a judge of answers: enough of JSON Schema for the
 * schemas it uses, and one thing more, that no answer carries a field it does not name.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly additionalProperties?: unknown;
}

interface Answers {
  readonly $ref?: string;
  readonly content?: { readonly "application/json"?: { readonly schema: Schema } };
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly responses: Readonly<Record<string, Answers>> } }>
  >;
}

const document: Document = parse(
  readFileSync(join(import.meta.dirname, "../../golden/mirror-openapi.yml"), "utf8"),
);

/**
 * What the document has against an answer, one line each with the place; empty when it agrees.
 *
 * @param url path and query of the request
 */
export function violations(url: string, status: number, body: unknown): string[] {
  const path = new URL(url, "http://mirror").pathname;
  const template = Object.keys(document.paths)
    .filter((candidate) => matches(candidate, path))
    // `/topics/messages/{timestamp}` goes before `/topics/{topicId}/…`.
    .sort((a, b) => count(a) - count(b))[0];
  if (template === undefined) return [`${path} is not in the document`];
  const answers = document.paths[template]?.get?.responses[String(status)];
  const answer = answers?.$ref === undefined ? answers : resolve<Answers>(answers.$ref);
  const schema = answer?.content?.["application/json"]?.schema;
  return schema === undefined ? [`${template} never answers ${status}`] : judge(schema, body, "");
}

function judge(given: Schema, value: unknown, place: string): string[] {
  const schema = flatten(given);
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return [`${place} is not ${types.join(" or ")}`];
  }
  if (value === null) return [];
  const wrong: string[] = [];
  if (schema.enum !== undefined && !schema.enum.includes(value)) wrong.push(`${place} not in enum`);
  if (typeof value === "string" && schema.pattern !== undefined) {
    if (!new RegExp(schema.pattern).test(value)) wrong.push(`${place} against ${schema.pattern}`);
  }
  if (typeof value === "number") {
    if (value < (schema.minimum ?? value)) wrong.push(`${place} below ${schema.minimum}`);
    if (value > (schema.maximum ?? value)) wrong.push(`${place} above ${schema.maximum}`);
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const item of value) wrong.push(...judge(schema.items, item, `${place}[]`));
  }
  if (typeof value === "object" && !Array.isArray(value) && schema.properties !== undefined) {
    wrong.push(...judgeFields(schema, value as Record<string, unknown>, place));
  }
  return wrong;
}

function judgeFields(schema: Schema, value: Record<string, unknown>, place: string): string[] {
  const { properties = {}, required = [] } = schema;
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${place}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, field]) => {
    const property = properties[name];
    if (property !== undefined) return judge(property, field, `${place}.${name}`);
    return schema.additionalProperties === undefined ? [`${place}.${name} is not named`] : [];
  });
  return [...missing, ...wrong];
}

/** `$ref` and `allOf` resolved into one schema. */
function flatten(schema: Schema): Schema {
  if (schema.$ref !== undefined) return flatten(resolve<Schema>(schema.$ref));
  if (schema.allOf === undefined) return schema;
  const parts = [...schema.allOf.map(flatten), schema];
  const type = parts.find((part) => part.type !== undefined)?.type;
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  const pattern = parts.find((part) => part.pattern !== undefined)?.pattern;
  return {
    ...(type === undefined ? {} : { type }),
    ...(pattern === undefined ? {} : { pattern }),
    properties,
    required: parts.flatMap((part) => part.required ?? []),
  };
}

function resolve<T>(reference: string): T {
  const steps = reference.replace(/^#\//, "").split("/");
  const found = steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown> | undefined)?.[step],
    document,
  );
  if (found === undefined) throw new Error(`${reference} leads nowhere`);
  return found as T;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function matches(template: string, path: string): boolean {
  const pattern = template.replace(/\{[^}]+\}/g, "[^/]+").replaceAll(".", "\\.");
  return new RegExp(`^${pattern}$`).test(path);
}

function count(template: string): number {
  return template.split("{").length;
}
