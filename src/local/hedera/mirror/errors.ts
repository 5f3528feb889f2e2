type MirrorStatus = 400 | 404;

/** A request the mirror node answers with an error body of its own form. */
export class MirrorError extends Error {
  override readonly name = "MirrorError";
  readonly status: MirrorStatus;
  readonly messages: readonly string[];

  constructor(status: MirrorStatus, messages: readonly string[]) {
    super(messages.join("; "));
    this.status = status;
    this.messages = messages;
  }
}

/** @throws MirrorError 404 */
export function notFound(): never {
  throw new MirrorError(404, ["Not found"]);
}

/**
 * @param name the parameter as the mirror node calls it, `topic.id`
 * @throws MirrorError 400
 */
export function invalidParameter(name: string): never {
  throw new MirrorError(400, [`Invalid parameter: ${name}`]);
}
