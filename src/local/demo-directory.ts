/** Two made-up sources, as `EVENT_SOURCES` names them. */
export const DEMO_SOURCES = ["SOURCE_A", "SOURCE_B"] as const;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * A small directory to look at: one record of every kind and state, dated around now. It is
 * imported as any other is (`catalog import`), once, into an empty catalogue.
 *
 * @param now epoch milliseconds
 * @param collections ledger ids of the NFT collections to list: those of the ledger in use, so
 *   that their owners and supply are real
 */
export function demoDirectory(now: number, collections: readonly [string, string]) {
  const at = (offset: number): string => new Date(now + offset).toISOString();
  const listed = <R extends object>(records: readonly R[]) =>
    records.map((record, index) => ({ ...record, createdAt: at(-(40 - index) * DAY) }));
  return {
    events: listed([
      {
        id: "harbour-meetup",
        title: "Harbour builders' meetup",
        eventType: "ECOSYSTEM_MEETUP",
        isForeverMint: false,
        source: DEMO_SOURCES[0],
        startsAt: at(-HOUR),
        endsAt: at(3 * DAY),
        host: "Harbour Collective",
        location: "Lisbon",
        description: "Three evenings of talks by people who ship on the network.",
        links: [{ label: "Programme", url: "https://example.org/harbour" }],
        prizes: [],
      },
      {
        id: "lighthouse-hackathon",
        title: "Lighthouse hackathon",
        eventType: "HACKATHON",
        isForeverMint: false,
        source: DEMO_SOURCES[1],
        startsAt: at(2 * DAY),
        endsAt: at(5 * DAY),
        links: [{ label: "Rules", url: "https://example.org/lighthouse/rules" }],
        prizes: [{ title: "First prize", description: "For the best public good", value: "5000" }],
      },
      {
        id: "tide-pass-mint",
        title: "Tide Pass mint",
        eventType: "MINT_EVENT",
        isForeverMint: false,
        startsAt: at(-DAY),
        endsAt: at(6 * DAY),
        links: [],
        prizes: [],
      },
      {
        id: "open-sea-forever",
        title: "Open Sea, a mint without an end",
        eventType: "MINT_EVENT",
        isForeverMint: true,
        startsAt: at(-30 * DAY),
        links: [],
        prizes: [],
      },
      {
        id: "autumn-audio",
        title: "Autumn live audio session",
        eventType: "OTHER",
        isForeverMint: false,
        startsAt: at(-9 * DAY),
        endsAt: at(-8 * DAY),
        links: [],
        prizes: [],
      },
    ]),
    tokens: listed([
      { id: "0.0.700001", symbol: "BUOY", name: "Buoy", price: 0.0123, marketCap: 1_230_000 },
      { id: "0.0.700002", symbol: "KEEL", name: "Keel", price: 1.5, marketCap: 9_000_000 },
      { id: "0.0.700003", symbol: "MAST", name: "Mast" },
      { id: "0.0.700004", symbol: "HELM", name: "Helm", price: 0.2 },
      { id: "0.0.700005", symbol: "DOCK", name: "Dock" },
      { id: "0.0.700006", symbol: "FLAG", name: "Flag" },
    ]),
    collections: listed([
      { id: collections[0], name: "Lanterns" },
      { id: collections[1], name: "Knots" },
    ]),
    projects: listed([
      { id: "ferry", slug: "ferry", name: "Ferry", category: "BRIDGE", country: "PT" },
      { id: "almanac", slug: "almanac", name: "Almanac", category: "DATA", country: "DE" },
      { id: "galley", slug: "galley", name: "Galley", category: "DEFI" },
    ]),
  };
}

/** Records that somebody proposed and an operator has not approved yet. */
export function demoProposals() {
  return {
    projects: [
      {
        id: "beacon",
        name: "Beacon",
        category: "TOOLS",
        country: "FR",
        description: "Shows which node answers first. Proposed by its makers.",
        websiteUrl: "https://example.org/beacon",
      },
    ],
  };
}
