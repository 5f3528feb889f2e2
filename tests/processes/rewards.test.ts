/**
 * Goal: a worker process as operators start it hands stars to the queue `rewards`, and a web
 * process counts what is pending. Method: real `serve` and `work` processes.
 */
import * as assert from "node:assert/strict";
import { createNodeRedisClient, Queue } from "bullmq";
import { createClient } from "redis";
import { test } from "uvu";
import { startNetwork } from "../support/network.ts";
import { startProcess, until } from "../support/processes.ts";
import { cast, newWallet, signIn } from "../support/service.ts";

const TOKEN = "a token of the operators";

test("a star cast at `serve` is a job that `work` has offered; metrics say how many wait", async () => {
  const network = await startNetwork();
  const settings = { ...(await network.webSettings()), OPERATOR_TOKEN: TOKEN };
  const url = `http://127.0.0.1:${settings.PORT}`;
  const web = startProcess("serve", settings);
  await until("the web process is up", () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const pending = async (): Promise<string> => {
    const reply = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return /^starboard_rewards_pending (\d+)/m.exec(await reply.text())?.[1] ?? "none";
  };
  const token = await signIn({ url }, await newWallet(network));
  const { body } = await cast({ url }, token, "token/0.0.9001");
  assert.equal(await pending(), "1");
  const worker = startProcess("work", network.settings);
  const client = createClient({ url: network.settings.REDIS_URL ?? "" });
  const queue = new Queue("rewards", { connection: createNodeRedisClient(client as never) });
  await until("it is offered", async () => (await queue.getWaitingCount()) === 1);
  const [job] = await queue.getWaiting();
  assert.equal(job?.id, body.star.id);
  await until("that is noted", async () => (await pending()) === "0");
  await queue.close();
  client.destroy();
  assert.equal(await worker.stop(), 0, worker.log());
  assert.equal(await web.stop(), 0, web.log());
  await network.close();
});

test.run();
