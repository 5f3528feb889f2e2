import { ConfigurationError } from "./config.ts";

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|localhost)$/i;

/** Whether only this machine is reached by a host's name or address, as settings or URLs have it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Where clients find us: what is configured, else the loopback address that is bound. Of any
 * other it cannot be known, and people would sign in to an address such as 0.0.0.0.
 *
 * @throws ConfigurationError when `HOST` is not loopback and `PUBLIC_URL` is not set
 */
export function ownUrl(given: { PUBLIC_URL?: string | undefined; HOST: string; PORT: number }) {
  const { PUBLIC_URL, HOST, PORT } = given;
  if (PUBLIC_URL === undefined && !isLoopback(HOST)) {
    throw new ConfigurationError("PUBLIC_URL is missing: HOST is not a loopback address");
  }
  return PUBLIC_URL ?? `http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${PORT}`;
}

/**
 * The origins of our own pages: that of the public URL and, where only this machine is bound, its
 * other names at the same port (contract, section 8).
 */
export function ownOrigins(
  publicUrl: string,
  { HOST, PORT }: { HOST: string; PORT: number },
): readonly string[] {
  const names = isLoopback(HOST) ? ["localhost", "127.0.0.1", "[::1]"] : [];
  const urls = [publicUrl, ...names.map((name) => `http://${name}:${PORT}`)];
  return [...new Set(urls.map((url) => new URL(url).origin))];
}

/** The explorers' pages of the networks that have some. */
const EXPLORED: readonly string[] = ["mainnet", "testnet", "previewnet"];

/** Base of the explorer's pages of the network in use, no slash at its end; null where there is none. */
export function explorerUrl(given: {
  EXPLORER_URL?: string | undefined;
  HEDERA_NETWORK: string;
}): string | null {
  const { EXPLORER_URL, HEDERA_NETWORK } = given;
  if (EXPLORER_URL !== undefined) return EXPLORER_URL.replace(/\/+$/, "");
  return EXPLORED.includes(HEDERA_NETWORK) ? `https://hashscan.io/${HEDERA_NETWORK}` : null;
}

/**
 * Where clients may ask the mirror node themselves, no slash at its end; null for an address that
 * has more than a host and `/api/v1`, because a path may be an access key of ours.
 */
export function publicMirrorUrl({
  MIRROR_NODE_URL: [first],
}: {
  MIRROR_NODE_URL: readonly string[];
}): string | null {
  if (first === undefined) return null;
  const { origin, pathname } = new URL(first);
  return /^\/(api\/v1\/?)?$/.test(pathname) ? origin : null;
}
