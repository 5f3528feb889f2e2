import { eventPage, eventsPage } from "./events.ts";
import { homePage } from "./home.ts";
import { leaderboardPage } from "./leaderboard.ts";
import { marketPages } from "./markets.ts";
import type { Page } from "./page.ts";
import { projectPage, projectsPage } from "./projects.ts";
import type { Reading } from "./reading.ts";
import { starPage } from "./star.ts";
import { starsPage } from "./stars.ts";

/** Every page; routes and navigation follow from this, in its order. */
export function directoryPages(reading: Reading): readonly Page[] {
  return [
    homePage(reading),
    eventsPage(reading),
    eventPage(reading),
    ...marketPages(reading),
    projectsPage(reading),
    projectPage(reading),
    leaderboardPage(reading),
    starsPage(reading),
    starPage(reading),
  ];
}
