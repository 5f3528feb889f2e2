import { collectionPage } from "./collection.ts";
import { collectionsPage } from "./collections.ts";
import { eventPage } from "./event.ts";
import { eventsPage } from "./events.ts";
import { homePage } from "./home.ts";
import { leaderboardPage } from "./leaderboard.ts";
import type { Page } from "./page.ts";
import { projectPage } from "./project.ts";
import { projectsPage } from "./projects.ts";
import type { Reading } from "./reading.ts";
import { starPage } from "./star.ts";
import { starsPage } from "./stars.ts";
import { tokenPage } from "./token.ts";
import { tokensPage } from "./tokens.ts";

/** Every page; routes and navigation follow from this, in its order. */
export function directoryPages(reading: Reading): readonly Page[] {
  return [
    homePage(reading),
    eventsPage(reading),
    eventPage(reading),
    tokensPage(reading),
    tokenPage(reading),
    collectionsPage(reading),
    collectionPage(reading),
    projectsPage(reading),
    projectPage(reading),
    leaderboardPage(reading),
    starsPage(reading),
    starPage(reading),
  ];
}
