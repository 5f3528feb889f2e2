import { ownUrl } from "../addresses.ts";
import { COLLECTION_SETTINGS, type Settings, type With } from "../config.ts";
import { clientAddress } from "../http/middleware/client-address.ts";

/** What a web process cannot do without. */
export const WEB_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  ...COLLECTION_SETTINGS,
] as const;
export type WebSettings = Readonly<With<(typeof WEB_SETTINGS)[number]>>;

/**
 * Before anything outside is asked or started: what is wrong with a setting is not hidden by a
 * server that is away, and a start that is refused has changed nothing.
 *
 * @throws ConfigurationError where `PUBLIC_URL` is missing, or a trusted proxy is no range
 */
export function checkAddresses(settings: Settings): void {
  ownUrl(settings);
  clientAddress(settings.TRUSTED_PROXIES);
}
