import type {
  AnswerQuestionBody,
  ChangeMessages,
  CompareReply,
  DiffReply,
  DoneReply,
  LoggedEvent,
  Overview,
  SearchReply,
  StartForm,
  StartReply,
  StartRequest,
  TaskAction,
  TaskReportReply,
  TextPiece,
  TimelineReply,
  UsageReply,
} from '../../wire.ts';

/** The state of a stream from the server. `refused`: the server does not let this page in, and says why. */
export type StreamState =
  | { readonly kind: 'open' }
  | { readonly kind: 'broken' }
  | { readonly kind: 'refused'; readonly reason: string };

/** The receiver of changes of all tasks, with a function for each kind of change. */
export interface ChangesReceiver {
  readonly changes: { readonly [K in keyof ChangeMessages]: (data: ChangeMessages[K]) => void };
  state(state: StreamState): void;
}

/** The receiver of the events of one log. */
export interface LogReceiver {
  /** Takes events in the order of their numbers, without repetitions. A number is missing if its event cannot be read. */
  events(events: readonly LoggedEvent[]): void;
  /** All events that the log had at the beginning have been received. */
  live(): void;
  /** The log was deleted or replaced. */
  reset(reason: string): void;
}

/** A place in a text that was cut. */
export interface TextPlace {
  readonly task: string;
  readonly seq: number;
  readonly pointer: string;
  readonly from: number;
}

/** The data of the page: the server, or an exported run. All texts in it are visible (`makeVisible`). */
export interface PageDataSource {
  /** The actions; null for an exported run, which only shows. */
  readonly actions: PageActions | null;
  /** The time of the export, in milliseconds since the epoch; null for the server. */
  readonly exportedAt: number | null;
  overview(): Promise<Overview>;
  /** Follows all tasks from a cursor on, over interruptions. Returns the function that ends it. */
  followChanges(cursor: string, receiver: ChangesReceiver): () => void;
  /** Follows a log from its beginning. Returns the function that ends it. */
  followLog(id: string, receiver: LogReceiver): () => void;
  readText(place: TextPlace): Promise<TextPiece>;
  report(id: string): Promise<TaskReportReply>;
  diff(id: string): Promise<DiffReply>;
  timeline(id: string): Promise<TimelineReply>;
  usage(id: string): Promise<UsageReply>;
  search(text: string): Promise<SearchReply>;
  compare(left: string, right: string): Promise<CompareReply>;
}

/** The actions of the page. Each throws PageError with the words of the server if it is refused. */
export interface PageActions {
  act(id: string, action: TaskAction, text: string | null): Promise<DoneReply>;
  answer(
    question: { readonly task: string; readonly id: string },
    body: AnswerQuestionBody,
  ): Promise<DoneReply>;
  startForm(): Promise<StartForm>;
  start(request: StartRequest): Promise<StartReply>;
}

/** A request that failed, with a message for people. */
export class PageError extends Error {
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.name = 'PageError';
    this.status = status;
  }
}

/** Returns the message of anything that was thrown. */
export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
