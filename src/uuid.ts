/** Before every other one. */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** A UUID as text, in either case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
