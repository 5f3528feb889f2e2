import type { Page } from "playwright-core";
import type { SigningWallet } from "../../../src/cli/demo-wallet.ts";
import { cast, newWallet, type Service, signIn, startService } from "../../support/service.ts";
import type { Tab } from "./browser-place.ts";

/** A running service whose pages are looked at. */
export interface Place {
  readonly service: Service;
  readonly url: string;
  /** A session of a wallet with 12 of A and 1 of B that has starred a token and an event. */
  readonly session: string;
  readonly star: string;
  /** For which this machine signs. */
  readonly demo: SigningWallet;
}

/** Starts the service with wallets and stars to look at. */
export async function openPlace(): Promise<Place & { close(): Promise<void> }> {
  const demoWallets: SigningWallet[] = [];
  const service = await startService({ WALLETCONNECT_PROJECT_ID: "project" }, { demoWallets });
  const demo = await newWallet(service, { a: 3, b: 1 });
  demoWallets.push(demo, await newWallet(service, { type: "ecdsa" }));
  const session = await signIn(service, await newWallet(service, { a: 12, b: 1 }));
  const { body } = await cast(service, session, "token/0.0.9001");
  await cast(service, session, "event/meetup");
  const { url, close } = service;
  return { service, url, session, star: body.star.id, demo, close };
}

/** The star of an item, by its name as anyone finds it. */
export const starOf = (page: Page, name: string) =>
  page.getByRole("button", { name: `Star ${name}`, exact: true });

/** Where it is said what a star would carry. */
export const carries = (page: Page, key: string) => page.locator(`[data-carries="${key}"]`);

export const counter = (page: Page, key: string) => page.locator(`[data-counter="${key}"]`).first();

/** Waits until the page says something. */
export const said = ({ page }: Tab, text: string | RegExp) =>
  page.locator("[data-said]").filter({ hasText: text }).waitFor();
