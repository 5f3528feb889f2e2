import { openPublisher, type Place } from "./live.ts";

/** A publisher in a process of its own, to be killed: says when it works. */
const place = JSON.parse(process.argv[2] ?? "{}") as Place;
const publisher = await openPublisher(place);
process.stdout.write("publishing\n");
process.once("SIGTERM", () => {
  publisher.close().then(
    () => process.exit(),
    () => process.exit(1),
  );
});
