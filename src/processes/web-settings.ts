import type { With } from "../config.ts";

/** What a web process cannot do without. */
export const WEB_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  "COLLECTION_A_ID",
  "COLLECTION_A_KEY",
  "COLLECTION_B_ID",
  "COLLECTION_B_KEY",
] as const;
export type WebSettings = Readonly<With<(typeof WEB_SETTINGS)[number]>>;
