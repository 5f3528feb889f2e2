/**
 * What the rivals' servers use of packages that are not installed with the product: see
 * package.json beside this file.
 */
declare module "@restatedev/restate-sdk" {
  import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

  export interface ObjectContext {
    readonly key: string;
    readonly rand: { uuidv4(): string };
    get<T>(name: string): Promise<T | null>;
    set<T>(name: string, value: T): void;
    objectClient<H>(called: VirtualObject<H>, key: string): Client<H>;
  }

  interface VirtualObject<H> {
    readonly name: string;
    readonly handlers: H;
    readonly options?: { readonly enableLazyState: boolean };
  }

  type Client<H> = {
    readonly [K in keyof H]: H[K] extends (ctx: ObjectContext, ...given: infer A) => infer R
      ? (...given: A) => R
      : never;
  };

  export function object<H>(given: VirtualObject<H>): VirtualObject<H>;

  export const RestatePromise: {
    all<T extends readonly unknown[]>(
      promises: readonly [...T],
    ): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }>;
  };

  export class TerminalError extends Error {
    constructor(message: string, options: { readonly errorCode: number });
  }

  export function createEndpointHandler(given: {
    readonly services: readonly VirtualObject<unknown>[];
  }): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}

declare module "@dbos-inc/dbos-sdk" {
  type Work<A extends unknown[], R> = (...args: A) => Promise<R>;

  export const DBOS: {
    readonly workflowID: string | undefined;
    setConfig(config: {
      readonly name: string;
      readonly systemDatabaseUrl: string;
      readonly systemDatabasePoolSize: number;
      readonly logLevel: string;
    }): void;
    registerStep<A extends unknown[], R>(work: Work<A, R>, given: { name: string }): Work<A, R>;
    registerWorkflow<A extends unknown[], R>(work: Work<A, R>, given: { name: string }): Work<A, R>;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
  };
}
