import type { Reply, Service } from "../../support/service.ts";

export const TOKEN = "operator-token-of-the-console-test";

/** The sign-in is limited by address: each form of these tests comes from another one. */
export const CONSOLE = { OPERATOR_TOKEN: TOKEN, TRUSTED_PROXIES: "127.0.0.0/8" };
let visitors = 0;

/** A form as filled in; a list where a field stands in it several times. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

function bodyOf(fields: Fields): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    ),
  );
}

/** What a browser does by itself: it keeps the cookie and says where a form came from. */
export interface Visitor {
  get(path: string): Promise<Reply>;
  /** Sends a form as a page of the console does, with this session's token by default. */
  post(path: string, fields: Fields, headers?: Record<string, string>): Promise<Reply>;
  readonly cookie: string;
}

/** Signs in by the form and keeps the cookie: in the log it is `environment (Ada)`. */
export async function signInOperator(
  service: Pick<Service, "url">,
  operator = "Ada",
  operatorToken = TOKEN,
): Promise<Visitor> {
  const reply = await sendForm(service, "/ops/sign-in", { operator, operatorToken });
  if (reply.status !== 303) throw new Error(`${reply.status} ${reply.text}`);
  return visitor(service, cookieOf(reply));
}

/** Somebody with this cookie. */
export function visitor(service: Pick<Service, "url">, cookie: string): Visitor {
  const withCookie = { cookie };
  return {
    cookie,
    get: (path) => sendPlain(service, path, withCookie),
    async post(path, fields, headers = {}) {
      const page = await sendPlain(service, "/ops", withCookie);
      const [, token = ""] = /name="token" value="([^"]+)"/.exec(page.text) ?? [];
      return sendForm(service, path, { token, ...fields }, { ...withCookie, ...headers });
    },
  };
}

/** The cookie a reply sets, as the browser sends it back. */
export function cookieOf({ headers }: Reply): string {
  return (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

export function sendForm(
  service: Pick<Service, "url">,
  path: string,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<Reply> {
  visitors += 1;
  const own = { origin: service.url, "x-forwarded-for": `10.0.0.${visitors % 250}` };
  return sendPlain(service, path, { ...own, ...headers }, bodyOf(fields));
}

/** One request, no redirect followed. */
export async function sendPlain(
  service: Pick<Service, "url">,
  path: string,
  headers: Record<string, string> = {},
  body?: URLSearchParams,
): Promise<Reply> {
  const response = await fetch(service.url + path, {
    redirect: "manual",
    headers,
    ...(body === undefined ? {} : { method: "POST", body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: undefined };
}
