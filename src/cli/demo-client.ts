import { request } from "undici";
import { z } from "zod";
import { type SigningWallet, signChallenge } from "./demo-wallet.ts";

/** Where the demo votes, and where it writes what it does. */
export interface VotingSite {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  readonly say: (line: string) => void;
}

const starSchema = z.looseObject({
  id: z.string(),
  weight: z.number(),
  votingPower: z.number(),
  publication: z.looseObject({
    state: z.enum(["stored", "submitted", "published"]),
    topicId: z.string().nullable(),
    sequenceNumber: z.number().nullable(),
    consensusTimestamp: z.string().nullable(),
  }),
});

/** A star as the service shows it, all fields kept. */
export type Star = z.output<typeof starSchema>;

const challengeSchema = z.object({ id: z.string(), message: z.string() });
const sessionSchema = z.object({ token: z.string() });
const castSchema = z.object({ star: starSchema });
const problemSchema = z.object({ error: z.string(), code: z.string() });

/** Signs in: asks for a challenge, signs it, trades it for a session token. */
export async function signIn(site: VotingSite, wallet: SigningWallet): Promise<string> {
  const asked = await post(site, "/voting/challenges", { wallet: wallet.id });
  const { id, message } = challengeSchema.parse(ok(asked));
  const signed = signChallenge(wallet, message);
  const opened = await post(site, "/voting/sessions", { challengeId: id, ...signed });
  const { token } = sessionSchema.parse(ok(opened));
  site.say(`signed in as ${wallet.id} (${wallet.type}, ${signed.scheme})`);
  return token;
}

/** Casts a star; a refusal is an answer, not a failure. */
export async function star(
  site: VotingSite,
  cast: { readonly token: string; readonly target: string; readonly idempotencyKey: string },
): Promise<{ readonly star?: Star; readonly code?: string }> {
  const [type, id] = cast.target.split("/");
  const reply = await post(
    site,
    "/voting/stars",
    { target: { type, id } },
    {
      authorization: `Bearer ${cast.token}`,
      "idempotency-key": cast.idempotencyKey,
    },
  );
  if (reply.status === 201) return { star: castSchema.parse(reply.body).star };
  return { code: problemSchema.parse(reply.body).code };
}

/** Reads a star with its publication; needs no session. */
export async function readStar(site: VotingSite, id: string): Promise<Star> {
  const star = ok(await ask(site, `/voting/stars/${id}`));
  starSchema.parse(star);
  // As it came: a receipt is shown with the service's own fields in its own order.
  return star as Star;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

async function post(
  site: VotingSite,
  path: string,
  json: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return ask(site, path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(json),
  });
}

/** @throws Error where nothing answers, with the likely reason */
async function ask(
  site: VotingSite,
  path: string,
  options?: Parameters<typeof request>[1],
): Promise<Reply> {
  const reply = await request(`${site.url}${path}`, options).catch((cause: unknown) => {
    throw new Error(`Nothing answers at ${site.url}: is \`npm start\` running?`, { cause });
  });
  return { status: reply.statusCode, body: await reply.body.json() };
}

function ok({ status, body }: Reply): unknown {
  if (status < 300) return body;
  const { error, code } = problemSchema.parse(body);
  throw new Error(`${code}: ${error}`);
}
