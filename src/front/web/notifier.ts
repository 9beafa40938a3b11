import { errorMessage, UsageError } from '../../base/errors.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import type { WebQuestion } from './wire.ts';

/** The receiver of notifications: any server that accepts JSON, or a topic of ntfy. */
export interface NotifyTarget {
  readonly kind: 'webhook' | 'ntfy';
  readonly url: string;
}

/** The time for one notification. */
const TIMEOUT_MS = 10_000;
/** The maximum number of notifications that are being sent. Further ones are dropped. */
const MAX_SENDING = 16;

/** Parses the value of `--notify`: a URL of http or https, with `ntfy+` before it for a topic of ntfy. Throws UsageError. */
export function parseNotifyTarget(text: string): NotifyTarget {
  const kind = text.startsWith('ntfy+') ? 'ntfy' : 'webhook';
  const url = URL.parse(kind === 'ntfy' ? text.slice('ntfy+'.length) : text);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return { kind, url: url.href };
  throw new UsageError(
    '--notify: this is no address such as https://example.org/hook or ntfy+https://ntfy.sh/TOPIC',
  );
}

export interface NotifierOptions {
  readonly target: NotifyTarget;
  readonly fetch: HttpFetch;
  /** Called with one line when the notifications begin to fail. */
  readonly onNotice: (line: string) => void;
}

/**
 * Sends a notification when a question begins to wait. It says only which task and agent ask, and for what kind of answer:
 * the receiver may be anybody's server. A failure stops nothing.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  #sending = 0;
  /** True if the last notification has failed, which was reported. */
  #isFailing = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Notifies the receiver. Returns at once. */
  notify(question: WebQuestion): void {
    if (this.#sending === MAX_SENDING) {
      this.#reportFailure(`${MAX_SENDING} are being sent, which is the limit`);
      return;
    }
    this.#sending += 1;
    void this.#send(question).finally(() => {
      this.#sending -= 1;
    });
  }

  async #send(question: WebQuestion): Promise<void> {
    const { target, fetch } = this.#options;
    try {
      const response = await fetch(target.url, {
        method: 'POST',
        ...(target.kind === 'ntfy' ? createMessage(question) : createEvent(question)),
        // The error for a redirect would print its path, which may hold a key.
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (response.ok) this.#isFailing = false;
      else this.#reportFailure(`the server answered with status ${response.status}`);
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
      this.#reportFailure(errorMessage(cause));
    }
  }

  #reportFailure(reason: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    // The address may hold a key.
    const { host } = new URL(this.#options.target.url);
    this.#options.onNotice(
      `--notify: ${host} was not notified of a question (${reason}); further failures are not reported until one succeeds`,
    );
  }
}

function createEvent({ question, root }: WebQuestion) {
  const { task, kind, chain } = question;
  const event = { event: 'question', task, root, agent: chain.at(-1) ?? '', kind };
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(event) };
}

function createMessage({ question: { task, kind, chain } }: WebQuestion) {
  return {
    headers: { 'Content-Type': 'text/plain; charset=utf-8', Title: 'Muster: a question waits' },
    body: `${chain.at(-1) ?? 'an agent'} (task ${task}) asks for ${KIND_TEXTS[kind]}`,
  };
}

const KIND_TEXTS: Readonly<Record<WebQuestion['question']['kind'], string>> = {
  permission: 'a permission',
  input: 'an answer',
  plan: 'the approval of a plan',
  server: 'an answer to an MCP server',
};
