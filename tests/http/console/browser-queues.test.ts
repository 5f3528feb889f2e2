// timeout: 120 s
/**
 * Goal: Bull Board works in a browser under the policy of its mount, loads nothing from elsewhere,
 * keeps text of jobs text, retries a failed job, and leads back. Method: a headless Chromium, where there is one, clicks
 * through it before a real Redis.
 */
import * as assert from "node:assert/strict";
import { createNodeRedisClient, Queue, Worker } from "bullmq";
import { createClient } from "redis";
import { until } from "../../support/processes.ts";
import { browserSuite, DESKTOP, EVIL, openSignedIn, PHONE } from "./browser-place.ts";

interface Jobs {
  readonly rewards: Queue;
}

const JOB = "01a1f8c0-0000-7000-8000-0000000000aa";

/** What the buttons of a page can be known by. */
const SHOWN_PICTURES = `[...document.querySelectorAll("main button svg")]
  .filter((one) => one.checkVisibility())
  .map((one) => [...one.classList].find((name) => name.startsWith("lucide-")))`;

const test = browserSuite<Jobs>("/ops/queues in a browser", async ({ service }, closers) => {
  const connect = () => {
    const client = createClient({ url: service.redisUrl, maintNotifications: "disabled" });
    client.on("error", () => undefined);
    closers.push(async () => void (client.isOpen && client.destroy()));
    return createNodeRedisClient(client);
  };
  const rewards = new Queue("rewards", { connection: connect() });
  closers.push(() => rewards.close());
  const worker = new Worker("rewards", () => Promise.reject(new Error("no such quest")), {
    connection: connect(),
  });
  await rewards.add("star", { starId: JOB, wallet: "0.0.1001", note: EVIL }, { jobId: JOB });
  await until("it has failed", async () => (await rewards.getFailedCount()) === 1);
  await worker.close();
  return { rewards };
});

for (const look of [PHONE, DESKTOP]) {
  test(`from the navigation to a job and back, ${look.width} px wide: no complaint, no other host`, async (place) => {
    const tab = await openSignedIn(place, look, { path: "/keys" });
    const { page, complaints } = tab;
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && origin !== place.service.url) elsewhere.push(request.url());
    });
    await tab.visit("/queues");
    await page.getByRole("link", { name: "Open Bull Board" }).click();
    await page.getByText("rewards").first().waitFor();
    await tab.picture("board");
    await tab.visit("/queues/board/queue/rewards?status=failed");
    await page.getByText(JOB.slice(0, 8)).first().waitFor();
    await tab.picture("board-failed");
    await tab.visit(`/queues/board/queue/rewards/${JOB}`);
    await page.getByText("no such quest").first().waitFor();
    await page.getByRole("tab", { name: "Data" }).click();
    await page.getByText("<script>alert(1)</script>").first().waitFor();
    assert.equal(await page.locator("main img").count(), 0, "marks stay text");
    await tab.picture("board-job");
    await page.locator("header button[aria-haspopup=menu]").first().click();
    await page.getByText("Back to the console").click();
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    assert.deepEqual({ complaints, elsewhere }, { complaints: [], elsewhere: [] });
    await tab.close();
  });
}

test("a failed job is retried by its button; buttons of what is refused are not shown", async (place) => {
  const tab = await openSignedIn(place, DESKTOP, { path: "/keys" });
  const { page } = tab;
  const refresh = page.locator("main button:has(.lucide-refresh-cw)");
  const shown = async (path: string) => {
    await tab.visit(path);
    await page.getByText("no such quest").first().waitFor();
    return page.evaluate(SHOWN_PICTURES);
  };
  const [workers, retry, copy] = ["lucide-users", "lucide-refresh-cw", "lucide-copy"];
  assert.deepEqual(await shown("/queues/board/queue/rewards?status=failed"), [
    workers,
    retry,
    retry,
    copy,
  ]);
  assert.deepEqual(await shown(`/queues/board/queue/rewards/${JOB}`), [retry, copy]);
  await refresh.click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await until("it waits", async () => (await place.rewards.getJobState(JOB)) === "waiting");
  const lines = await place.service.sql`
    select phase from operator_log where action = 'queues.retry' and subject = ${`rewards/${JOB}`}`;
  assert.ok(lines.some(({ phase }) => phase === "started"));
  assert.deepEqual(tab.complaints, []);
  await tab.close();
});
