import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { RATE } from "../consensus/fees.ts";
import { nanosOfMs } from "../timestamps.ts";
import { type Endpoint, MAX_AGE } from "./exchange.ts";
import { checkQuery, isTimestamp } from "./parameters.ts";

const HOUR_S = 3_600;

/** `GET /network/exchangerate`: on the local network an HBAR is always worth the same. */
export const getExchangeRate: Endpoint = ({ query }) => {
  checkQuery(query, { timestamp: isTimestamp });
  const rate = (expiresAt: number) => ({
    cent_equivalent: RATE.cents,
    expiration_time: expiresAt,
    hbar_equivalent: RATE.hbar,
  });
  const nowMs = Date.now();
  const hour = Math.floor(nowMs / 1_000 / HOUR_S) + 1;
  return {
    body: {
      current_rate: rate(hour * HOUR_S),
      next_rate: rate((hour + 1) * HOUR_S),
      timestamp: formatTimestamp(nanosOfMs(nowMs)),
    },
    maxAge: MAX_AGE.list,
  };
};
