import { ownVersion } from "../../this-build.ts";

/** What every description of this API says (specification, sections "Limits" and "Voting power"). */
export const API_NAME = "Starboard";
/** That of the package: one release, one version. */
export const API_VERSION = ownVersion();

export const NOTICES = [
  "Usage is subject to terms of use. Callers must stay within their key's limits and must not overload the service.",
  "Returned data is information and not financial advice, and much of it comes from third parties and the community.",
  "The two NFT collections that add voting power are utility tokens. They confer no ownership, profit rights or securities status.",
];

export const TERMS = NOTICES.join(" ");
