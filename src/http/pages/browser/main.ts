import { followLive } from "./live.ts";
import { keepTime } from "./page-clock.ts";
import { reread } from "./reread.ts";

/** What every page does: its time, its counters. The rest is loaded where it is needed. */
keepTime(() => void reread());
followLive({ reread: () => void reread() });
