/**
 * Loaded into a process (`NODE_OPTIONS=--import=…`), shifts its machine clock by the milliseconds
 * that the file PRELOAD_FILE holds, whenever they change. The monotonic timer stays as it is, as it
 * does when a machine's clock is set.
 */
import { readFileSync } from "node:fs";

const file = process.env.PRELOAD_FILE ?? "";
const RealDate = Date;
let shiftMs = 0;

function look() {
  try {
    shiftMs = Number(readFileSync(file, "utf8")) || 0;
  } catch {
    shiftMs = 0;
  }
}

look();
setInterval(look, 250).unref();

const now = () => RealDate.now() + shiftMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, type) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, type),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
