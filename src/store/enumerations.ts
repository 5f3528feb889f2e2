/** The specification's table "Enumerations", as the tables of the directory hold them. */

export const eventTypes = ["MINT_EVENT", "ECOSYSTEM_MEETUP", "HACKATHON", "OTHER"] as const;
export type EventType = (typeof eventTypes)[number];

export const categories = [
  "DEFI",
  "TOOLS",
  "MARKETPLACE",
  "DATA",
  "COMMUNITY",
  "WALLET",
  "BRIDGE",
  "GAMING",
  "NFT",
  "EDUCATION",
  "INFRASTRUCTURE",
  "OTHER",
] as const;
export type Category = (typeof categories)[number];

/** Derived from the clock at each read, stored nowhere. */
export const eventStatuses = ["upcoming", "live", "ended"] as const;
export type EventStatus = (typeof eventStatuses)[number];
