import { isOutOfRoom } from "../store/postgres.ts";

/** Whether Postgres has room for stars, as a web process learns it from its voters' stars. */
export interface RoomWatch {
  stored(): void;
  /** Called with why a star was not stored. */
  refused(error: unknown): void;
  isFull(): boolean;
}

/** Full from the first star that found no room until the next one that is stored. */
export function createRoomWatch(): RoomWatch {
  let isFull = false;
  return {
    stored() {
      isFull = false;
    },
    refused(error) {
      isFull ||= isOutOfRoom(error);
    },
    isFull: () => isFull,
  };
}
