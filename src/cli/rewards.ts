import { defineCommand } from "citty";
import { isDay } from "../../actors/day.ts";
import { counted } from "../counted.ts";
import { silentLogger } from "../log.ts";
import { reofferDay } from "../upkeep/offer-rewards.ts";
import { openRewardsQueue } from "../upkeep/rewards-queue.ts";
import { needed } from "./arguments.ts";
import { act } from "./database.ts";
import { command } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

const reoffer = command({
  description:
    "Offer all stars of a UTC day to the queue `rewards` once more, under their own ids.",
  args: {
    day: needed("UTC day, such as 2026-11-20."),
  },
  async work({ day }) {
    if (!isDay(day)) throw new Error("--day must be a date such as 2026-11-20");
    const { REDIS_URL } = readCommandSettings(["DATABASE_URL", "REDIS_URL"]);
    const queue = openRewardsQueue(REDIS_URL, silentLogger);
    try {
      await queue.ready();
      const offered = await act(
        { name: "rewards.reoffer", subject: day },
        (sql) => reofferDay(sql, queue, day),
        (offered) => ({ details: { offered } }),
      );
      return { day, offered };
    } finally {
      await queue.close();
    }
  },
  text: ({ day, offered }) => `${counted(offered, "star")} of ${day} offered again`,
});

export const subcommand = defineCommand({ subCommands: { reoffer } });
