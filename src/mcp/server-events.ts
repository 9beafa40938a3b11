import type { McpListKind } from './open-session.ts';

/** A message about a server, for the log of the tasks that use it. All texts of servers are untrusted. */
export type McpEvent =
  | { readonly type: 'started'; readonly protocolVersion: string; readonly isRestart: boolean }
  /** The server ended by itself. It is started again after `restartMs`, or not at all if that is null. */
  | { readonly type: 'lost'; readonly reason: string; readonly restartMs: number | null }
  /** The server could not be started again. */
  | { readonly type: 'restart-failed'; readonly reason: string; readonly restartMs: number | null }
  | { readonly type: 'stopped'; readonly reason: 'idle' | 'released' | 'closed' }
  | { readonly type: 'problem'; readonly message: string }
  | { readonly type: 'list-changed'; readonly list: McpListKind }
  /** `callIds`: the ids of the calls to one of which the message belongs, in the order of their starts. */
  | {
      readonly type: 'log';
      readonly level: string;
      readonly text: string;
      readonly callIds: readonly string[];
    };

/** The server of an event. */
export interface EventSource {
  /** The name of its entry. */
  readonly name: string;
  /** The directory of the workspace for which it was started; null if it is that of the session. */
  readonly tree: string | null;
}

/** Receives what happens to servers. It must not throw. */
export type McpEventListener = (source: EventSource, event: McpEvent) => void;

/** The maximum number of messages of one server that are passed on in a period. */
const MAX_MESSAGES = 100;
const PERIOD_MS = 10_000;
/** The shortest time between two reports that a list has changed. */
const LIST_CHANGE_MS = 500;

/** Passes the events of one server on, but never more than a person or a log can bear. */
export class EventThrottle {
  private readonly send: (event: McpEvent) => void;
  private readonly changed = new Set<McpListKind>();
  private timer: NodeJS.Timeout | null = null;
  private messages = 0;
  private periodEnd = 0;

  constructor(send: (event: McpEvent) => void) {
    this.send = send;
  }

  /** Passes on a problem or a log message, unless there were too many. */
  message(event: McpEvent, now: number): void {
    if (now >= this.periodEnd) {
      const dropped = this.messages - MAX_MESSAGES;
      this.messages = 0;
      this.periodEnd = now + PERIOD_MS;
      if (dropped > 0) {
        this.send({ type: 'problem', message: `${dropped} more messages were left out` });
      }
    }
    this.messages += 1;
    if (this.messages <= MAX_MESSAGES) this.send(event);
  }

  /** Reports that a list has changed, at once or together with later changes. */
  listChanged(list: McpListKind): void {
    if (this.timer !== null) {
      this.changed.add(list);
      return;
    }
    this.send({ type: 'list-changed', list });
    this.timer = setTimeout(() => {
      this.timer = null;
      const [first, ...others] = this.changed;
      this.changed.clear();
      if (first === undefined) return;
      this.listChanged(first);
      for (const other of others) this.send({ type: 'list-changed', list: other });
    }, LIST_CHANGE_MS);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.changed.clear();
  }
}
