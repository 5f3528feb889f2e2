import { COLLECTION_SETTINGS, type With } from "../config.ts";

/** What a web process cannot do without. */
export const WEB_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  ...COLLECTION_SETTINGS,
] as const;
export type WebSettings = Readonly<With<(typeof WEB_SETTINGS)[number]>>;
