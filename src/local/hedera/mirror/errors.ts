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

export function notFound(): MirrorError {
  return new MirrorError(404, ["Not found"]);
}

/** @param name the parameter as the mirror node calls it, `topic.id` */
export function invalidParameter(name: string): MirrorError {
  return new MirrorError(400, [`Invalid parameter: ${name}`]);
}
