import type { WebSocketRoute } from "playwright-core";

/** One connection to the relay: what arrives, and its end. */
interface Connection {
  receive(text: string): void;
  close(): void;
}

interface Message {
  readonly topic: string;
  readonly message: string;
  readonly tag: number;
}

interface Request {
  readonly id: number;
  readonly method?: string;
  readonly params: {
    readonly topic?: string;
    readonly topics?: readonly string[];
    readonly message?: string;
    readonly tag?: number;
    readonly pairingTopic?: string;
    readonly sessionTopic?: string;
    readonly sessionProposal?: string;
    readonly sessionProposalResponse?: string;
    readonly sessionSettlementRequest?: string;
  };
}

/** Tags of the sign protocol: a proposal, its answer, the session. */
const TAGS = { proposal: 1100, answer: 1101, settlement: 1102 };

/**
 * A relay of WalletConnect's as far as two clients of its own library need one: mailboxes by topic,
 * whose sealed contents it cannot read.
 */
export class StandInRelay {
  readonly #kept: { readonly message: Message; readonly sender: ReadonlySet<string> }[] = [];
  readonly #topics = new Map<(message: object) => void, Set<string>>();
  #lastId = 1_000_000;

  connect(send: (text: string) => void): Connection {
    const tell = (message: object): void => send(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const topics = new Set<string>();
    this.#topics.set(tell, topics);
    return {
      receive: (text) => {
        const request = JSON.parse(text) as Request;
        // A message without a method answers a delivery.
        if (request.method === undefined) return;
        const { id, params } = request;
        tell({ id, result: this.#answer(request, topics) });
        if (!["irn_subscribe", "irn_batchSubscribe"].includes(request.method)) return;
        for (const topic of params.topics ?? [params.topic ?? ""])
          this.#deliver(tell, topic, topics);
      },
      close: () => this.#topics.delete(tell),
    };
  }

  /** Connects a page whose socket was caught on its way. */
  connectPage(socket: WebSocketRoute): void {
    const connection = this.connect((text) => socket.send(text));
    socket.onMessage((text) => connection.receive(String(text)));
    socket.onClose(() => connection.close());
  }

  #answer({ method, params }: Request, topics: Set<string>): unknown {
    const { topic = "", message = "", tag = 0, pairingTopic = "", sessionTopic = "" } = params;
    switch (method) {
      case "irn_subscribe":
        topics.add(topic);
        return topic;
      case "irn_batchSubscribe":
        for (const each of params.topics ?? []) topics.add(each);
        return params.topics;
      case "irn_unsubscribe":
        return topics.delete(topic);
      case "irn_publish":
        this.#publish({ topic, message, tag }, topics);
        return true;
      case "wc_proposeSession":
        topics.add(pairingTopic);
        this.#publish(
          { topic: pairingTopic, message: params.sessionProposal ?? "", tag: TAGS.proposal },
          topics,
        );
        return true;
      case "wc_approveSession":
        topics.add(sessionTopic);
        this.#publish(
          { topic: pairingTopic, message: params.sessionProposalResponse ?? "", tag: TAGS.answer },
          topics,
        );
        this.#publish(
          {
            topic: sessionTopic,
            message: params.sessionSettlementRequest ?? "",
            tag: TAGS.settlement,
          },
          topics,
        );
        return true;
      case "irn_fetchMessages":
      case "irn_batchFetchMessages":
        return { messages: [], hasMore: false };
      default:
        throw new Error(`the relay knows no ${method}`);
    }
  }

  /** To all who listen but the sender; kept for those who come later. */
  #publish(message: Message, sender: ReadonlySet<string>): void {
    this.#kept.push({ message, sender });
    for (const [tell, topics] of this.#topics) {
      if (topics !== sender && topics.has(message.topic)) this.#send(tell, message);
    }
  }

  #deliver(tell: (message: object) => void, topic: string, own: ReadonlySet<string>): void {
    for (const { message, sender } of this.#kept)
      if (message.topic === topic && sender !== own) this.#send(tell, message);
  }

  #send(tell: (message: object) => void, message: Message): void {
    const data = { ...message, publishedAt: Date.now() };
    const id = ++this.#lastId;
    tell({ id, method: "irn_subscription", params: { id: message.topic, data } });
  }
}
