import {
  type Star,
  StarboardError,
  type Voting,
  type VotingOptions,
  voting,
} from "../../packages/client/src/index.ts";
import { type SigningWallet, signerOf } from "./demo-wallet.ts";

/** The typed client, as the demo uses it. @throws Error where nothing answers, with the likely reason */
export function demoVoting(
  url: string,
  options: Pick<VotingOptions, "token" | "retry"> = {},
): Voting {
  return voting({
    ...options,
    baseUrl: url,
    fetch: (...given) =>
      fetch(...given).catch((cause: unknown) => {
        throw new Error(`Nothing answers at ${url}: is \`npm start\` running?`, { cause });
      }),
  });
}

/** Casts a star, the target as `token/0.0.1001`; a refusal is an answer, not a failure. */
export async function castOrCode(
  client: Voting,
  target: string,
): Promise<{ readonly star?: Star; readonly code?: string }> {
  const [type, id = ""] = target.split("/");
  try {
    return await client.star({ type: type as Star["target"]["type"], id });
  } catch (error) {
    if (error instanceof StarboardError && error.code !== null) return { code: error.code };
    throw error;
  }
}

/** Tries once: while it waited for another try, a stop would wait for it. */
const ONCE = { attempts: 1 } as const;

/** Votes as `starboard demo` does, and prints nothing. */
export function demoVoterClient(url: string) {
  return {
    async signIn(wallet: SigningWallet): Promise<string> {
      const { token = "" } = await demoVoting(url).signIn(signerOf(wallet));
      return token;
    },
    star: (token: string, target: string) =>
      castOrCode(demoVoting(url, { token, retry: ONCE }), target),
  };
}
