/** A reader that reads too slowly is cut; one that waits for the service is not. Method: a bare server, small figures. */
import * as assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { mock } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { test } from "uvu";
import { cutWhenSlow } from "../../../src/http/exports/stream-text.ts";

const LEAST = { bytes: 64 * 1024, withinMs: 50 };

/** Asks a server whose only reply is made by `answer`. */
async function ask(answer: (outgoing: ServerResponse) => Promise<void>) {
  const server = createServer((_, outgoing) => {
    cutWhenSlow(outgoing, LEAST);
    void answer(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const reply = await new Promise<IncomingMessage>((resolve) => get({ port }, resolve));
  return { reply, close: () => new Promise((resolve) => server.close(resolve)) };
}

test("a client that takes nothing of what waits for it is hung up on", async () => {
  let hungUp: Promise<unknown> = Promise.resolve();
  const { reply, close } = await ask(async (outgoing) => {
    hungUp = new Promise((resolve) => outgoing.once("close", resolve));
    // More than the buffers between hold.
    outgoing.write(Buffer.alloc(64 * 1024 * 1024));
  });
  reply.on("error", () => undefined);
  await hungUp;
  reply.destroy();
  await close();
});

test("64 KiB in 10 s are enough of what waits, and a byte less is not", () => {
  for (const [bytes, isCut] of [
    [64 * 1024, false],
    [64 * 1024 - 1, true],
  ] as const) {
    mock.timers.enable({ apis: ["setInterval"] });
    const socket = { bytesWritten: 0, writableLength: 0 };
    const destroy = mock.fn();
    const reply = { socket, destroy, writableLength: 1, destroyed: false };
    const outgoing = Object.assign(new EventEmitter(), reply);
    cutWhenSlow(outgoing as unknown as ServerResponse);
    socket.bytesWritten = bytes;
    mock.timers.tick(9_999);
    assert.equal(destroy.mock.callCount(), 0);
    mock.timers.tick(1);
    assert.equal(destroy.mock.callCount() > 0, isCut, `${bytes} bytes`);
    mock.timers.reset();
  }
});

test("while the service has nothing to send, no client is slow", async () => {
  const { reply, close } = await ask(async (outgoing) => {
    outgoing.write("first");
    await wait(LEAST.withinMs * 4);
    outgoing.end(" last");
  });
  assert.equal(await text(reply), "first last");
  await close();
});

test("a reply whose client has left already is not watched", async () => {
  const server = createServer((_, outgoing) => {
    outgoing.once("close", () => {
      const watch = mock.method(globalThis, "setInterval");
      cutWhenSlow(outgoing, LEAST);
      server.emit("looked", watch.mock.callCount());
      mock.restoreAll();
    });
    outgoing.req.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const looked = once(server, "looked");
  get({ port: (server.address() as AddressInfo).port }).on("error", () => undefined);
  assert.deepEqual(await looked, [0]);
  await new Promise((resolve) => server.close(resolve));
});

test.run();
