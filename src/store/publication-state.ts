/** How the steps of `outbox.state` are shown outside (contract, section 3). */
export const PUBLICATION_STATES = {
  pending: "stored",
  reserved: "stored",
  signed: "stored",
  sent: "submitted",
  published: "published",
} as const;

/** A row's own state. */
export type OutboxState = keyof typeof PUBLICATION_STATES;
