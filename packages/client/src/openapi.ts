/**
 * What the public API takes and returns, generated from its OpenAPI document by `npm run client`.
 * Not to be edited.
 */
export interface paths {
  "/": {
    /** This directory: every endpoint and its parameters. */
    get: operations["readDirectory"];
  };
  "/openapi.json": {
    /** The OpenAPI 3.1 document of this API. */
    get: operations["readOpenApi"];
  };
  "/events": {
    /** Approved events, soonest first, then by id. Without `status`, ended events are left out. */
    get: operations["listEvents"];
  };
  "/events/{id}": {
    /** One approved event with its links and prizes. */
    get: operations["readEvent"];
  };
  "/tokens/top": {
    /** Approved tokens ordered by `totalVotes`, with price and market cap. */
    get: operations["topTokens"];
  };
  "/collections/top": {
    /** Approved NFT collections ordered by `totalVotes`, with owners and supply. */
    get: operations["topCollections"];
  };
  "/leaderboard": {
    /** The current season's leaderboard and the season's dates. */
    get: operations["readLeaderboard"];
  };
  "/ecosystem": {
    /** Approved ecosystem projects, newest first, then by id. */
    get: operations["listProjects"];
  };
}
export interface components {
  schemas: {
    Directory: {
      name: string;
      version: string;
      documentation: string;
      terms: string;
      endpoints: {
        /** @constant */
        method: "GET";
        path: string;
        description: string;
        key: boolean;
        parameters: {
          name: string;
          /** @enum {string} */
          in: "query" | "path";
          /** @enum {string} */
          type: "integer" | "string";
          required: boolean;
          default: string | number | null;
          minimum: number | null;
          maximum: number | null;
          allowed: string[] | null;
        }[];
      }[];
    };
    InvalidParameter: {
      error: string;
      /** @constant */
      code: "INVALID_PARAMETER";
      parameter: string;
      allowed: string | string[];
    };
    PlainError: {
      error: string;
    };
    Error: {
      error: string;
      /** @enum {string} */
      code:
        | "MISSING_API_KEY"
        | "INVALID_API_KEY"
        | "REVOKED_API_KEY"
        | "NOT_FOUND"
        | "INTERNAL"
        | "UNAVAILABLE"
        | "HEADERS_TOO_LARGE"
        | "REQUEST_TIMEOUT";
    };
    OpenApi: {
      openapi: string;
    } & {
      [key: string]: unknown;
    };
    EventPage: {
      events: components["schemas"]["Event"][];
      /** @description Records that pass the filter, on all pages together. */
      total: number;
      /** @description Stop when false. */
      hasMore: boolean;
      limit: number;
      offset: number;
    };
    Event: {
      id: string;
      title: string;
      description: string | null;
      /** @enum {string} */
      eventType: "MINT_EVENT" | "ECOSYSTEM_MEETUP" | "HACKATHON" | "OTHER";
      isForeverMint: boolean;
      /**
       * @description By the clock, at each read.
       * @enum {string}
       */
      status: "upcoming" | "live" | "ended";
      source: string | null;
      /** Format: date-time */
      startsAt: string;
      /** @description Null for forever mints alone. */
      endsAt: string | null;
      host: string | null;
      location: string | null;
      imageUrl: string | null;
      url: string | null;
      /** @description Weight of all its stars; of a forever mint, without that of NFTs that their wallets no longer hold. */
      totalVotes: number;
      /** Format: date-time */
      createdAt: string;
    };
    EventDetail: {
      id: string;
      title: string;
      description: string | null;
      /** @enum {string} */
      eventType: "MINT_EVENT" | "ECOSYSTEM_MEETUP" | "HACKATHON" | "OTHER";
      isForeverMint: boolean;
      /**
       * @description By the clock, at each read.
       * @enum {string}
       */
      status: "upcoming" | "live" | "ended";
      source: string | null;
      /** Format: date-time */
      startsAt: string;
      /** @description Null for forever mints alone. */
      endsAt: string | null;
      host: string | null;
      location: string | null;
      imageUrl: string | null;
      url: string | null;
      /** @description Weight of all its stars; of a forever mint, without that of NFTs that their wallets no longer hold. */
      totalVotes: number;
      /** Format: date-time */
      createdAt: string;
      links: {
        label: string;
        url: string;
      }[];
      prizes: {
        title: string;
        description: string | null;
        value: string | null;
      }[];
    };
    TopTokens: {
      tokens: components["schemas"]["Token"][];
    };
    Token: {
      /** @description By `totalVotes`, then `votes30d`, then the lower number of the id. */
      rank: number;
      /** @description Ledger id, 0.0.n. */
      id: string;
      symbol: string;
      name: string;
      iconUrl: string | null;
      /** @description Weight of today's stars; zero from 00:00 UTC. */
      totalVotes: number;
      /** @description US dollars. */
      price: number | null;
      /** @description US dollars. */
      marketCap: number | null;
      /** @description Weight from the full UTC hour 7 × 24 hours ago until now. */
      votes7d: number;
      /** @description Weight from the full UTC hour 30 × 24 hours ago until now. */
      votes30d: number;
    };
    TopCollections: {
      collections: components["schemas"]["Collection"][];
    };
    Collection: {
      /** @description By `totalVotes`, then `votes30d`, then the lower number of the id. */
      rank: number;
      /** @description Ledger id, 0.0.n. */
      id: string;
      name: string;
      imageUrl: string | null;
      /** @description Weight of today's stars; zero from 00:00 UTC. */
      totalVotes: number;
      owners: number | null;
      supply: number | null;
      /** @description Weight from the full UTC hour 7 × 24 hours ago until now. */
      votes7d: number;
      /** @description Weight from the full UTC hour 30 × 24 hours ago until now. */
      votes30d: number;
    };
    Leaderboard: {
      /** @description Null, and no entries, while no season is on. */
      season: components["schemas"]["Season"] | null;
      leaderboard: components["schemas"]["LeaderboardEntry"][];
    };
    Season: {
      id: string;
      name: string;
      /** Format: date-time */
      startsAt: string;
      /**
       * Format: date-time
       * @description The first instant after it.
       */
      endsAt: string;
    };
    LeaderboardEntry: {
      /** @description By points, then stars, then the lower account number. */
      rank: number;
      /** @description Account id, 0.0.n. */
      wallet: string;
      /** @description XP credited in the season. */
      points: number;
      /** @description Stars accepted in the season. */
      stars: number;
      /** @description What those stars added to their counters. */
      weight: number;
    };
    ProjectPage: {
      projects: components["schemas"]["Project"][];
      /** @description Records that pass the filter, on all pages together. */
      total: number;
      /** @description Stop when false. */
      hasMore: boolean;
      limit: number;
      offset: number;
    };
    Project: {
      id: string;
      slug: string;
      name: string;
      /** @enum {string} */
      category:
        | "DEFI"
        | "TOOLS"
        | "MARKETPLACE"
        | "DATA"
        | "COMMUNITY"
        | "WALLET"
        | "BRIDGE"
        | "GAMING"
        | "NFT"
        | "EDUCATION"
        | "INFRASTRUCTURE"
        | "OTHER";
      /** @description Two letters. */
      country: string | null;
      description: string | null;
      logoUrl: string | null;
      websiteUrl: string | null;
      /** @description Weight of today's stars; zero from 00:00 UTC. */
      totalVotes: number;
      /** @description Weight from the full UTC hour 7 × 24 hours ago until now. */
      votes7d: number;
      /** @description Weight from the full UTC hour 30 × 24 hours ago until now. */
      votes30d: number;
      /** Format: date-time */
      createdAt: string;
    };
  };
}
export interface operations {
  readDirectory: {
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["Directory"];
        };
      };
    };
  };
  readOpenApi: {
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["OpenApi"];
        };
      };
    };
  };
  listEvents: {
    parameters: {
      query?: {
        status?: "upcoming" | "live" | "ended" | "all";
        eventType?: "MINT_EVENT" | "ECOSYSTEM_MEETUP" | "HACKATHON" | "OTHER";
        source?: string;
        /** @description Most records of one reply. */
        limit?: number;
        /** @description Position of the first record, from 0. */
        offset?: number;
      };
    };
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["EventPage"];
        };
      };
    };
  };
  readEvent: {
    parameters: {
      path: {
        /** @description Id of the event. */
        id: string;
      };
    };
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["EventDetail"];
        };
      };
    };
  };
  topTokens: {
    parameters: {
      query?: {
        /** @description Most records of one reply. */
        limit?: number;
      };
    };
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["TopTokens"];
        };
      };
    };
  };
  topCollections: {
    parameters: {
      query?: {
        /** @description Most records of one reply. */
        limit?: number;
      };
    };
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["TopCollections"];
        };
      };
    };
  };
  readLeaderboard: {
    parameters: {
      query?: {
        /** @description Most records of one reply. */
        limit?: number;
      };
    };
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["Leaderboard"];
        };
      };
    };
  };
  listProjects: {
    parameters: {
      query?: {
        category?:
          | "DEFI"
          | "TOOLS"
          | "MARKETPLACE"
          | "DATA"
          | "COMMUNITY"
          | "WALLET"
          | "BRIDGE"
          | "GAMING"
          | "NFT"
          | "EDUCATION"
          | "INFRASTRUCTURE"
          | "OTHER";
        /** @description Two-letter country code, in either case. */
        country?: string;
        /** @description Most records of one reply. */
        limit?: number;
        /** @description Position of the first record, from 0. */
        offset?: number;
      };
    };
    responses: {
      /** @description OK */
      200: {
        content: {
          "application/json": components["schemas"]["ProjectPage"];
        };
      };
    };
  };
}
