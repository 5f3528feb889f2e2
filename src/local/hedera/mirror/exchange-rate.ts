import { RATE } from "../consensus/fees.ts";
import { type Endpoint, MAX_AGE } from "./exchange.ts";
import { checkQuery } from "./parameters.ts";

/** `GET /network/exchangerate`: on the local network an HBAR is always worth the same. */
export const getExchangeRate: Endpoint = ({ query }) => {
  checkQuery(query, {});
  const rate = { cent_equivalent: RATE.cents, hbar_equivalent: RATE.hbar };
  return { body: { current_rate: rate, next_rate: rate }, maxAge: MAX_AGE.list };
};
