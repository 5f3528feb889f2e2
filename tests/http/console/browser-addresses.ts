import { cast, newWallet, type Service, signIn } from "../../support/service.ts";
import { signInOperator } from "./browser-session.ts";
import { fillConsole } from "./fill-console.ts";

/** Name of a picture, and a place below `/ops`. */
export type Address = readonly [name: string, path: string];

/** Something on every page, and where it is. */
export interface Filled {
  /** The session of a wallet that has starred an event and a forever mint. */
  readonly voter: string;
  readonly star: string;
  /** By path in the table of pages; streams are not visited, pages open them. */
  readonly addresses: Readonly<Record<string, readonly Address[]>>;
}

/** All places in the order of the table. */
export function allOf({ addresses }: Pick<Filled, "addresses">): readonly Address[] {
  return Object.values(addresses).flat();
}

/** Fills the console by real stars, a dry run and a check in earnest. */
export async function fillForBrowser(service: Service): Promise<Filled> {
  const wallet = await newWallet(service, { a: 3, b: 1 });
  const voter = await signIn(service, wallet);
  const { body } = await cast(service, voter, "event/meetup");
  await cast(service, voter, "event/mint");
  await fillConsole(service);
  const operator = await signInOperator(service);
  await operator.post("/ops/holdings/dry-run", {});
  await operator.post("/ops/holdings/run", { confirmed: "yes" });
  const [run] = await service.sql`select id from holdings_check_run limit 1`;
  const { id: star, day } = body.star;
  const actor = `wallet-day/${wallet.id}/${day}`;
  const addresses = {
    "": [["overview", ""]],
    "/feed": [["live", "/feed"]],
    "/actors": [
      ["actors", "/actors"],
      ["actors-none", "/actors?q=0.0.7"],
    ],
    "/actors/*": [
      ["wallet-day", `/actors/${actor}?at=1&replay=1`],
      ["event-day", `/actors/event-day/meetup/${day}`],
      ["forever-mint", "/actors/forever-mint/mint?at=1"],
    ],
    "/wallets/*": [["wallet", `/wallets/${wallet.id}`]],
    "/alarms": [["alarms", "/alarms"]],
    "/search": [["search", `/search?q=${wallet.id}`]],
    "/raw/actors/*": [["raw", `/raw/actors/${actor}`]],
    "/stars": [["stars", "/stars"]],
    "/stars/*": [["star", `/stars/${star}`]],
    "/publishing": [["publishing", "/publishing"]],
    "/queues": [["queues", "/queues"]],
    "/holdings": [["holdings", "/holdings"]],
    "/holdings/now": [["holdings-now", "/holdings/now"]],
    "/holdings/runs/*": [["holdings-run", `/holdings/runs/${run?.id}`]],
    "/catalogue": [
      ["catalogue", "/catalogue"],
      ["catalogue-shown", "/catalogue?type=token&view=shown"],
    ],
    "/seasons": [["seasons", "/seasons"]],
    "/premium": [["premium", "/premium"]],
    "/xp": [["xp", "/xp"]],
    "/keys": [["keys", "/keys"]],
    "/operators": [["operators", "/operators"]],
    "/log": [["operator-log", "/log"]],
  } as const satisfies Record<string, readonly Address[]>;
  return { voter, star, addresses };
}
