/**
 * What the voting API takes and returns, generated from its OpenAPI document by `npm run client`.
 * Not to be edited.
 */
export interface components {
  schemas: {
    OpenApi: {
      openapi: string;
    } & {
      [key: string]: unknown;
    };
    InvalidRequest: {
      error: string;
      /** @constant */
      code: "INVALID_REQUEST";
      /** @description What is bad; null where the body is no JSON object. */
      field: string | null;
    };
    Refusal: {
      error: string;
      /** @enum {string} */
      code:
        | "ALLOWANCE_EXHAUSTED"
        | "ALREADY_STARRED"
        | "CHALLENGE_EXPIRED"
        | "HEADERS_TOO_LARGE"
        | "HOLDINGS_UNAVAILABLE"
        | "IDEMPOTENCY_KEY_REUSED"
        | "INTERNAL"
        | "INVALID_REQUEST"
        | "INVALID_SESSION"
        | "INVALID_SIGNATURE"
        | "JOURNAL_BEHIND"
        | "METHOD_NOT_ALLOWED"
        | "MISSING_SESSION"
        | "NOT_FOUND"
        | "PAYLOAD_TOO_LARGE"
        | "RATE_LIMITED"
        | "REQUEST_TIMEOUT"
        | "UNAVAILABLE"
        | "UNKNOWN_WALLET"
        | "UNSUPPORTED_KEY"
        | "UNSUPPORTED_MEDIA_TYPE";
    };
    Config: {
      /** @enum {string} */
      network: "local" | "testnet" | "mainnet" | "previewnet";
      /** @description As the text to sign names it, `hedera:<network>`. */
      chainId: string;
      publicUrl: string;
      /** @description Null where its address may hold an access key. */
      mirrorNodeUrl: string | null;
      /** @description Base of the explorer's pages. */
      explorerUrl: string | null;
      topics: {
        event: string | null;
        asset: string | null;
      };
      collections: {
        a: {
          /** @description Ledger id, 0.0.n. */
          id: string;
          /** @description Its name in a message's `holdings`. */
          key: string;
        };
        b: {
          /** @description Ledger id, 0.0.n. */
          id: string;
          /** @description Its name in a message's `holdings`. */
          key: string;
        };
      };
      /** @description Whether this machine's demo wallets may sign in. */
      demoWallets: boolean;
      walletConnectProjectId: string | null;
    };
    ItemPage: {
      items: (
        | components["schemas"]["Event"]
        | components["schemas"]["Token"]
        | components["schemas"]["Collection"]
        | components["schemas"]["Project"]
      )[];
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
    Challenge: {
      id: string;
      /** @description As it was asked for; an EVM address in lower case. */
      wallet: string;
      /** @description To be signed as it stands. */
      message: string;
      /** Format: date-time */
      expiresAt: string;
    };
    Session: {
      /** @description Absent where it went into the cookie. */
      token?: string;
      /** @description Account id, 0.0.n. */
      wallet: string;
      /** Format: date-time */
      expiresAt: string;
    };
    CurrentAllowance: {
      /** @description Account id, 0.0.n. */
      wallet: string;
      /**
       * Format: date
       * @description A UTC day.
       */
      day: string;
      premium: boolean;
      limit: number;
      used: number;
      remaining: number;
      /**
       * Format: date-time
       * @description The next 00:00 UTC.
       */
      resetsAt: string;
    };
    Preview: {
      votingPower: number;
      /** @description What a star would add to the counter now. */
      weight: number;
      breakdown: components["schemas"]["Breakdown"];
      /** @description Today; on a forever mint ever. */
      alreadyStarred: boolean;
      lastStarredDay: string | null;
      allowance: components["schemas"]["Allowance"];
    };
    Breakdown: {
      base: number;
      collectionA: number;
      collectionB: number;
    };
    Allowance: {
      limit: number;
      used: number;
      remaining: number;
      /**
       * Format: date-time
       * @description The next 00:00 UTC.
       */
      resetsAt: string;
    };
    StarReply: {
      star: components["schemas"]["Star"];
      counter: {
        totalVotes: number;
      };
      allowance: components["schemas"]["Allowance"];
    };
    Star: {
      id: string;
      /** @description Account id, 0.0.n. */
      wallet: string;
      target: {
        /** @enum {string} */
        type: "event" | "token" | "collection" | "project";
        id: string;
      };
      /** Format: date-time */
      at: string;
      /**
       * Format: date
       * @description A UTC day.
       */
      day: string;
      votingPower: number;
      /** @description What it added to the counter. */
      weight: number;
      breakdown: components["schemas"]["Breakdown"];
      holdings: {
        collectionA: number;
        collectionB: number;
      };
      publication: {
        /** @enum {string} */
        state: "stored" | "submitted" | "published";
        topicId: string | null;
        /** @description 0.0.n@seconds.nnnnnnnnn */
        transactionId: string | null;
        sequenceNumber: number | null;
        /** @description seconds.nnnnnnnnn */
        consensusTimestamp: string | null;
        /** @description Base64, as the mirror node gives it. */
        runningHash: string | null;
      };
    };
    AllowanceExhausted: {
      error: string;
      /** @constant */
      code: "ALLOWANCE_EXHAUSTED";
      limit: number;
      used: number;
      /** Format: date-time */
      resetsAt: string;
    };
    AlreadyStarred: {
      error: string;
      /** @constant */
      code: "ALREADY_STARRED";
      starId: string;
      /** Format: date-time */
      resetsAt: string;
    };
    StarsOfDay: {
      /**
       * Format: date
       * @description A UTC day.
       */
      day: string;
      /** @description Newest first. */
      stars: components["schemas"]["Star"][];
    };
  };
}
export interface operations {
  listItems: {
    parameters: {
      query: {
        type: "event" | "token" | "collection" | "project";
        /** @description Of events; ended ones only where asked for. */
        status?: "upcoming" | "live" | "ended" | "all";
        /** @description Of events. */
        eventType?: "MINT_EVENT" | "ECOSYSTEM_MEETUP" | "HACKATHON" | "OTHER";
        /** @description Of projects. */
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
        /** @description Part of a name, or of a token's symbol, in any case. */
        q?: string;
        /** @description Most records of one reply. */
        limit?: number;
        /** @description Position of the first record, from 0. */
        offset?: number;
      };
    };
  };
  previewStar: {
    parameters: {
      query: {
        type: "event" | "token" | "collection" | "project";
        id: string;
      };
    };
  };
  listStars: {
    parameters: {
      query?: {
        /** @description A UTC day, 2026-11-20; today when absent. */
        day?: string;
      };
    };
  };
  castStar: {
    parameters: {
      header?: {
        /** @description 1 to 255 printable ASCII characters. */
        "Idempotency-Key"?: string;
      };
    };
  };
  readStar: {
    parameters: {
      path: {
        id: string;
      };
    };
  };
  followLive: {
    parameters: {
      header?: {
        /** @description Of the last event that was heard. */
        "Last-Event-ID"?: string;
      };
    };
  };
}
