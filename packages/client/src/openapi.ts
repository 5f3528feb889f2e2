/**
 * What the public API takes and returns, generated from its OpenAPI document by `npm run client`.
 * Not to be edited.
 */
export interface paths {
  "/": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** This directory: every endpoint and its parameters. */
    get: operations["readDirectory"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/openapi.json": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The OpenAPI 3.1 document of this API. */
    get: operations["readOpenApi"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/events": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Approved events, soonest first. Without `status`, ended events are left out. */
    get: operations["listEvents"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/events/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One approved event with its links and prizes. */
    get: operations["readEvent"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/tokens/top": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Approved tokens ordered by `totalVotes`, with price and market cap. */
    get: operations["topTokens"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/collections/top": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Approved NFT collections ordered by `totalVotes`, with owners and supply. */
    get: operations["topCollections"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/leaderboard": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The current season's leaderboard and the season's dates. */
    get: operations["readLeaderboard"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/ecosystem": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Approved ecosystem projects, newest first. */
    get: operations["listProjects"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /**
     * @example {
     *       "name": "Starboard",
     *       "version": "0.2.0",
     *       "documentation": "https://starboard.example/docs",
     *       "terms": "Usage is subject to terms of use.",
     *       "endpoints": [
     *         {
     *           "method": "GET",
     *           "path": "/openapi.json",
     *           "description": "The OpenAPI 3.1 document of this API.",
     *           "key": false,
     *           "parameters": []
     *         }
     *       ]
     *     }
     */
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
    /**
     * @example {
     *       "error": "The parameter limit is not valid.",
     *       "code": "INVALID_PARAMETER",
     *       "parameter": "limit",
     *       "allowed": "integer from 1 to 100"
     *     }
     */
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
        | "UNAVAILABLE";
    };
    /**
     * @example {
     *       "openapi": "3.1.0"
     *     }
     */
    OpenApi: {
      openapi: string;
    } & {
      [key: string]: unknown;
    };
    EventPage: {
      events: components["schemas"]["Event"][];
      /**
       * @description Records that pass the filter, on all pages together.
       * @example 1
       */
      total: number;
      /**
       * @description Stop when false.
       * @example false
       */
      hasMore: boolean;
      /** @example 20 */
      limit: number;
      /** @example 0 */
      offset: number;
    };
    /**
     * @example {
     *       "id": "harbour-meetup",
     *       "title": "Harbour builders' meetup",
     *       "description": "Three evenings of talks by people who ship on the network.",
     *       "eventType": "ECOSYSTEM_MEETUP",
     *       "isForeverMint": false,
     *       "status": "live",
     *       "source": "SOURCE_A",
     *       "startsAt": "2026-11-20T08:00:00.000Z",
     *       "endsAt": "2026-11-23T08:00:00.000Z",
     *       "host": "Harbour Collective",
     *       "location": "Lisbon",
     *       "imageUrl": null,
     *       "url": null,
     *       "totalVotes": 62,
     *       "createdAt": "2026-11-01T08:00:00.000Z"
     *     }
     */
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
      /** @description Weight of all its stars. */
      totalVotes: number;
      /** Format: date-time */
      createdAt: string;
    };
    /**
     * @example {
     *       "id": "harbour-meetup",
     *       "title": "Harbour builders' meetup",
     *       "description": "Three evenings of talks by people who ship on the network.",
     *       "eventType": "ECOSYSTEM_MEETUP",
     *       "isForeverMint": false,
     *       "status": "live",
     *       "source": "SOURCE_A",
     *       "startsAt": "2026-11-20T08:00:00.000Z",
     *       "endsAt": "2026-11-23T08:00:00.000Z",
     *       "host": "Harbour Collective",
     *       "location": "Lisbon",
     *       "imageUrl": null,
     *       "url": null,
     *       "totalVotes": 62,
     *       "createdAt": "2026-11-01T08:00:00.000Z",
     *       "links": [
     *         {
     *           "label": "Programme",
     *           "url": "https://example.org/harbour"
     *         }
     *       ],
     *       "prizes": [
     *         {
     *           "title": "Best talk",
     *           "description": null,
     *           "value": "500"
     *         }
     *       ]
     *     }
     */
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
      /** @description Weight of all its stars. */
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
    /**
     * @example {
     *       "rank": 1,
     *       "id": "0.0.700001",
     *       "symbol": "BUOY",
     *       "name": "Buoy",
     *       "iconUrl": null,
     *       "totalVotes": 48,
     *       "price": 0.0123,
     *       "marketCap": 1230000,
     *       "votes7d": 312,
     *       "votes30d": 312
     *     }
     */
    Token: {
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
    /**
     * @example {
     *       "rank": 1,
     *       "id": "0.0.1003",
     *       "name": "Lanterns",
     *       "imageUrl": null,
     *       "totalVotes": 21,
     *       "owners": 19,
     *       "supply": 86,
     *       "votes7d": 140,
     *       "votes30d": 140
     *     }
     */
    Collection: {
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
    /**
     * @example {
     *       "id": "01a202b7-387f-70d3-8e82-78a520dd26b0",
     *       "name": "Harvest season",
     *       "startsAt": "2026-11-02T00:00:00.000Z",
     *       "endsAt": "2027-01-31T00:00:00.000Z"
     *     }
     */
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
    /**
     * @example {
     *       "rank": 1,
     *       "wallet": "0.0.1021",
     *       "points": 20,
     *       "stars": 20,
     *       "weight": 80
     *     }
     */
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
      /**
       * @description Records that pass the filter, on all pages together.
       * @example 1
       */
      total: number;
      /**
       * @description Stop when false.
       * @example false
       */
      hasMore: boolean;
      /** @example 20 */
      limit: number;
      /** @example 0 */
      offset: number;
    };
    /**
     * @example {
     *       "id": "almanac",
     *       "slug": "almanac",
     *       "name": "Almanac",
     *       "category": "DATA",
     *       "country": "DE",
     *       "description": null,
     *       "logoUrl": null,
     *       "websiteUrl": "https://example.org/almanac",
     *       "totalVotes": 17,
     *       "votes7d": 96,
     *       "votes30d": 96,
     *       "createdAt": "2026-11-20T08:00:00.000Z"
     *     }
     */
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
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  readDirectory: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Directory"];
        };
      };
    };
  };
  readOpenApi: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
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
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["EventPage"];
        };
      };
    };
  };
  readEvent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Id of the event.
         * @example harbour-meetup
         */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
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
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
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
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
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
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
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
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OK */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ProjectPage"];
        };
      };
    };
  };
}
