import { type IncomingMessage, METHODS } from "node:http";

/** The first line, whose word the parser does not know as a method, and the headers. */
const HEAD =
  /^(?<word>\S+) (?:https?:\/\/[^\s/?#]+)?(?<target>\/\S*) (?:HTTP\/1\.[01]\r\n(?<headers>.*?)(?:\r\n\r\n|$))?/is;
/** Paths whose wrong methods are answered and counted, by any word. */
const ANSWERED = /^\/(?:v1|voting)(?:[/?]|$)/;
/** Stands for each of them: words of a client's choice name no route, log line or metric. */
const METHOD = "UNKNOWN";

/**
 * What the parser has read of the line in which it stops: a part of a word that it does not know, or all
 * before the version where it knows the word of RTSP alone, or all where it knows that of HTTP/2. The end of
 * a body may stand before it.
 */
const READ: Readonly<Record<string, RegExp>> = {
  HPE_INVALID_METHOD: /(?<!\S)\S*$/,
  // Where the parser knows the word as HTTP's, something else of the line is wrong.
  HPE_INVALID_CONSTANT: new RegExp(String.raw`(?<!\S)\S+(?<!${METHODS.join("|")}) \S+ +HTTP$`),
  HPE_INVALID_VERSION: /(?<!\S)\S*PRI \S+ +HTTP\/1\.[01]\r\n$/,
};

/** What Node's parser says, and where in which bytes it stopped. */
export type ParserError = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

/**
 * Makes a request of what the parser refused for its method alone, so that the app answers it as
 * any wrong method: counted, with the rate headers, `Allow` and CORS.
 *
 * @returns undefined where the error is of no such request, or of no API
 */
export function unknownMethodRequest({
  code = "",
  rawPacket,
  bytesParsed,
}: ParserError): Request | undefined {
  const packet = rawPacket?.toString("latin1") ?? "";
  // Requests that came before it in one packet are answered by themselves.
  const start = READ[code]?.exec(packet.slice(0, bytesParsed))?.index;
  if (start === undefined) return undefined;
  const { word, target = "", headers = "" } = HEAD.exec(packet.slice(start))?.groups ?? {};
  if (word === undefined) return undefined;
  return requestOf(target, headers.split("\r\n").map(pairOf));
}

/** The same of a request for a tunnel, of which Node makes none for the app. */
export function tunnelRequest({ url = "", rawHeaders }: IncomingMessage): Request | undefined {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
  );
  return requestOf(url, pairs);
}

function pairOf(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1)];
}

function requestOf(
  target: string,
  pairs: readonly (readonly [string, string])[],
): Request | undefined {
  if (!ANSWERED.test(target)) return undefined;
  try {
    const headers = new Headers();
    for (const [name, value] of pairs) if (name !== "") headers.append(name, value);
    return new Request(new URL(target, "http://localhost"), { method: METHOD, headers });
  } catch {
    return undefined;
  }
}
