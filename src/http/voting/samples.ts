import type { CodeSample } from "../v1/examples.ts";
import { examples } from "./examples.ts";
import type { Operation, OperationName } from "./operations.ts";

const TARGET = '{ type: "token", id: "0.0.700001" }';
const SIGN_IN = `// signMessage: hedera_signMessage of your wallet, or personal_sign with scheme "eip191"
await starboard.signIn({
  wallet: "0.0.1005",
  sign: async (message) => ({ scheme: "hip820", signature: await signMessage(message) }),
});`;

/** What a TypeScript program says, once it has its client; null where the client asks by itself. */
const CALLS: Readonly<Record<OperationName, string | null>> = {
  readVotingOpenApi: null,
  readConfig: "console.log(await starboard.config());",
  listItems: `const { items } = await starboard.items({ type: "token", limit: 3 });
console.log(items);`,
  startSignIn: SIGN_IN,
  openSession: SIGN_IN,
  endSession: "await starboard.signOut();",
  endSessions: "await starboard.signOut({ everywhere: true });",
  readAllowance: "console.log(await starboard.allowance());",
  previewStar: `console.log(await starboard.preview(${TARGET}));`,
  castStar: `const { star, allowance } = await starboard.star(${TARGET});
console.log(star.weight, allowance.remaining);`,
  listStars: 'console.log(await starboard.stars("2026-11-20"));',
  readStar: 'console.log(await starboard.receipt("01a1f88e-2c92-7a00-9861-bc1879f11b22"));',
  followLive: "for await (const { event, data } of starboard.live()) console.log(event, data);",
};

const QUERIES: Partial<Record<OperationName, string>> = {
  listItems: "?type=token&limit=3",
  previewStar: "?type=token&id=0.0.700001",
  listStars: "?day=2026-11-20",
};

/** How to call an operation by `curl`, and by the typed client where it has a word for it. */
export function samplesOf(
  name: OperationName,
  row: Operation,
  publicUrl: string,
): readonly CodeSample[] {
  const call = CALLS[name];
  const shell = { lang: "Shell", label: "curl", source: curl(name, row, publicUrl) };
  if (call === null) return [shell];
  const token = row.session ? `, token: \`\${process.env.STARBOARD_SESSION}\`` : "";
  const source = `import { voting } from "@starboard/client";

const starboard = voting({ baseUrl: "${publicUrl}"${token} });
${call}`;
  return [shell, { lang: "TypeScript", label: "TypeScript", source }];
}

function curl(
  name: OperationName,
  { method, path, session }: Operation,
  publicUrl: string,
): string {
  const { request, reply } = examples[name];
  const id = Object(reply).id ?? "";
  const words = [
    ...(method === "GET" || request !== undefined ? [] : [`-X ${method}`]),
    ...(session ? ['-H "Authorization: Bearer $STARBOARD_SESSION"'] : []),
    ...(name === "castStar" ? ["-H 'Idempotency-Key: my-first-star'"] : []),
    ...(request === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(request)}'`]),
    ...(name === "followLive" ? ["--no-buffer"] : []),
    `"${publicUrl}/voting${path.replace("{id}", id)}${QUERIES[name] ?? ""}"`,
  ];
  return `curl ${words.join(" ")}`;
}
