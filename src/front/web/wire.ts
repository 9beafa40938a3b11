/**
 * The data that the server of `muster web` and its page exchange. The server and the page always have the same version, so
 * none of this is promised to other programs. All texts come from logs, and may hold anything that a model or a file says.
 */
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Question } from '../../protocol/question.ts';
import type { ResultEnvelope, TaskStatus } from '../../protocol/result.ts';
import type { LandingState } from '../../protocol/workspace.ts';
import type { SpanKind } from '../../report/span.ts';
import type { TaskReport } from '../../report/task-report.ts';
import type { UsageTotal } from '../../protocol/state/ledger.ts';

/** The paths of the server, without those that contain an id (see the functions below). */
export const API_PATHS = {
  overview: '/api/overview',
  /** A stream of events (`ChangeMessages`), from `?after=CURSOR` on. */
  changes: '/api/changes',
  /** `?q=TEXT` */
  search: '/api/search',
  /** `?left=ID&right=ID` */
  compare: '/api/compare',
  /** GET: what a new task can be (`StartForm`). POST: starts one (`StartRequest`). */
  start: '/api/start',
} as const;

/**
 * The header of each POST with the key of the page. The server redirects its printed address to `/#key=KEY`. Other ports of
 * this machine get the cookie of a browser as well, but not the key, so that a cookie alone only reads.
 */
export const KEY_HEADER = 'muster-key';

/** A stream of events (`LogMessages`), from `?after=SEQ` on. Without `after`, it begins with the first event of the log. */
export const eventsPath = (id: string) => `/api/tasks/${id}/events`;
/** A piece of a text that was cut in an event (`TextPiece`): `?pointer=POINTER&from=OFFSET`. */
export const textPath = (id: string, seq: number) => `/api/tasks/${id}/events/${seq}/text`;
export const reportPath = (id: string) => `/api/tasks/${id}/report`;
export const diffPath = (id: string) => `/api/tasks/${id}/diff`;
export const timelinePath = (id: string) => `/api/timeline/${id}`;
export const usagePath = (id: string) => `/api/usage/${id}`;
/** POST */
export const actionPath = (id: string, action: TaskAction) => `/api/tasks/${id}/${action}`;
/** POST */
export const answerPath = (task: string, question: string) =>
  `/api/questions/${task}/${question}/answer`;

/**
 * The actions on a task. The body is `{"text": …}`, with the reason for `stop`, the message for `send`, and the message, if there
 * is one, for `resume`. The reply is a `DoneReply`.
 */
export type TaskAction = 'stop' | 'send' | 'resume' | 'background';

/** A task in the list of all tasks. `muster tasks list` and `muster tasks show` print the same values. */
export interface TaskRow {
  readonly id: string;
  readonly root: string;
  readonly parent: string | null;
  /** The depth below the root task, which has depth 0. */
  readonly depth: number;
  /** The name of the agent definition. */
  readonly agent: string;
  /** The description on one line; for a root task the title of its conversation. At most 120 code points. */
  readonly title: string;
  /** `provider/id`. */
  readonly model: string;
  readonly status: TaskStatus;
  /** The working directory. */
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Milliseconds since the epoch; null while the task has not ended. */
  readonly ended: number | null;
  /** The number of complete answers. */
  readonly turns: number;
  /** The number of tool calls; null if the server has not seen the task at work (`TaskReport.toolCalls` has it). */
  readonly calls: number | null;
  /** Input that was not read from a cache, plus output, with estimates. */
  readonly paidTokens: number;
  /** The same as text: `12.3k`, or `~12.3k` if a part is estimated. */
  readonly tokens: string;
  /** The known cost in USD, with estimates. */
  readonly costUsd: number;
  /** The same as text: `$0.0123`, `≥$0.0123`, `~$0.0123`, or `?`. */
  readonly cost: string;
  /** The present activity of a task at work; null for other tasks, or if it does nothing that lasts. */
  readonly doing: { readonly kind: SpanKind; readonly detail: string } | null;
  /** The ids of its open questions. */
  readonly questions: readonly string[];
  /** The task whose result was reused; null if none was. */
  readonly reused: string | null;
  /** The workspace of its own; null if the task has none. */
  readonly workspace: {
    readonly kind: string;
    readonly branch: string | null;
    readonly landing: LandingState;
  } | null;
}

/** An open question of any task. */
export interface WebQuestion {
  /** The question as the log has it. Its texts are complete. */
  readonly question: Question;
  /** The root of the tree of its task. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** The process that waits for the answer; null: the task is parked, and an answer continues it in the process of the server. */
  readonly pid: number | null;
  /** True if somebody has said "not now" on a page of this server. */
  readonly isPutOff: boolean;
}

/** The end of a question. */
export interface ClosedQuestion {
  readonly id: string;
  readonly task: string;
  /** The outcome as the terminal says it, such as `answered: yes` or `withdrawn: its task has ended`. */
  readonly outcome: string;
  /** The `client` of the page that answered; null if a terminal, an editor or nobody did. */
  readonly client: string | null;
}

/** The reply of `/api/overview`. */
export interface Overview {
  /** The position of this overview in the stream of changes. */
  readonly cursor: string;
  /** The version of Muster. */
  readonly version: string;
  /** All tasks, the newest first. */
  readonly tasks: readonly TaskRow[];
  /** The oldest first. */
  readonly questions: readonly WebQuestion[];
}

/**
 * The messages of `/api/changes`, by the name of their event. The id of a message is the cursor after it. A browser that
 * connects again sends the last one as `Last-Event-ID`, which wins over `after`.
 */
export interface ChangeMessages {
  /** Rows that are new or have changed, each complete. */
  readonly rows: readonly TaskRow[];
  /** The ids of tasks that were deleted. */
  readonly gone: readonly string[];
  /** A question that is new or has changed. */
  readonly question: WebQuestion;
  readonly closed: ClosedQuestion;
  /** The cursor is of another server, or too old: the page must load the overview again. The stream ends. */
  readonly reset: { readonly reason: string };
}

/** The messages of `/api/tasks/ID/events`, by the name of their event. The id of a `log` message is the number of its event. */
export interface LogMessages {
  readonly log: LoggedEvent;
  /** All events that were in the log at the time of the request have been sent. It has no id. */
  readonly live: { readonly seq: number };
  /** The log has been deleted or replaced. The stream ends. */
  readonly reset: { readonly reason: string };
}

/** An event of a log. */
export interface LoggedEvent {
  /** The event, in which texts of more than `MAX_TEXT` UTF-16 units are cut. */
  readonly event: TaskEvent;
  /** The texts that are cut. Absent if there are none. */
  readonly cut?: readonly CutText[];
}

/** A text of which an event holds only the beginning. */
export interface CutText {
  /** The place of the text in the event, as a JSON pointer (RFC 6901), such as `/text`. */
  readonly pointer: string;
  /** The length of the complete text in UTF-16 units. */
  readonly length: number;
}

/** The maximum length of a text in an event and of a `TextPiece`, in UTF-16 units. */
export const MAX_TEXT = 16_384;

/** A piece of a text that was cut. */
export interface TextPiece {
  readonly text: string;
  readonly from: number;
  /** The length of the complete text in UTF-16 units. */
  readonly length: number;
}

/** The reply of `/api/tasks/ID/report`. */
export interface TaskReportReply {
  /** The result for programs, as `muster tasks show --json` prints it. */
  readonly envelope: ResultEnvelope;
  /** The task without its children: turns, spans, receipt, answer. */
  readonly report: TaskReport;
}

/** The reply of `/api/tasks/ID/diff`: the files that the task has changed. */
export interface DiffReply {
  readonly files: readonly DiffFile[];
  /** True if the changes have landed in the files of the user, from the workspace of the task. */
  readonly hasLanded: boolean;
  /** The reason why something or everything is missing; null if the changes are complete. */
  readonly note: string | null;
}

/** The change of one file. */
export interface DiffFile {
  readonly path: string;
  /** The path before the change, if it was another one. */
  readonly from: string | null;
  readonly kind: 'added' | 'changed' | 'deleted';
  readonly added: number;
  readonly deleted: number;
  /** Empty for a binary file. */
  readonly hunks: readonly DiffHunk[];
  /** The reason why hunks are missing; null if they are complete. */
  readonly note: string | null;
}

export interface DiffHunk {
  /** The numbers of the first lines, from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** The lines without their ends. Each begins with ` `, `-` or `+`, or is `\ No newline at end of file`. */
  readonly lines: readonly string[];
}

/** The maximum number of tasks in a timeline, in the usage of a tree, and on each side of a comparison. */
export const MAX_TREE_TASKS = 2_000;

/** The reply of `/api/timeline/ID`: how a task and all tasks below it have spent their time. */
export interface TimelineReply {
  /** Milliseconds since the epoch. All times follow the monotonic clock. */
  readonly from: number;
  readonly to: number;
  /** Each task follows its parent. */
  readonly rows: readonly TimelineRow[];
  /** The number of tasks beyond `MAX_TREE_TASKS`. */
  readonly omitted: number;
}

export interface TimelineRow {
  readonly id: string;
  readonly level: number;
  readonly agent: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly created: number;
  readonly until: number;
  /** In order: kind, start, end, detail. */
  readonly spans: readonly TimelineSpan[];
}

export type TimelineSpan = readonly [kind: SpanKind, from: number, to: number, detail: string];

/** The reply of `/api/usage/ID`: the tokens and the cost of a task and all tasks below it over time. */
export interface UsageReply {
  readonly from: number;
  readonly to: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
  /** One for each turn, by the time of its end. */
  readonly points: readonly UsagePoint[];
  readonly omitted: number;
}

export interface UsagePoint {
  readonly at: number;
  readonly task: string;
  readonly turn: number;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The cost in USD; null: the price is not known. */
  readonly costUsd: number | null;
  readonly isEstimated: boolean;
}

/** The reply of `/api/search`. */
export interface SearchReply {
  /** The newest task first, one for each task. */
  readonly hits: readonly SearchHit[];
  /** The reason why the search is not complete; null if it is. */
  readonly note: string | null;
}

export interface SearchHit {
  readonly id: string;
  readonly where: 'id' | 'title' | 'prompt' | 'result';
  /** The text around the first match, on one line. */
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** The reply of `/api/compare`. */
export interface CompareReply {
  readonly left: ComparedTree;
  readonly right: ComparedTree;
  /** The rows that belong together: those with the same agent and title at the same place in their trees. */
  readonly pairs: readonly { readonly left: number | null; readonly right: number | null }[];
}

export interface ComparedTree {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
  readonly rows: readonly ComparedTask[];
  /** The paths of all files that were changed, sorted. */
  readonly files: readonly string[];
  /** The answer of the top task, cut to `MAX_TEXT`. */
  readonly result: string;
  readonly omitted: number;
}

export interface ComparedTask {
  readonly id: string;
  readonly level: number;
  readonly agent: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly model: string;
  readonly turns: number;
  readonly calls: number;
  readonly tokens: string;
  readonly paidTokens: number;
  readonly cost: string;
  readonly costUsd: number;
  /** The time from the creation of the task to its end, in milliseconds. */
  readonly ms: number;
}

/** The reply of every POST except `start`. */
export interface DoneReply {
  /** The outcome, for people. */
  readonly text: string;
}

/** An answer to a question. `answer` is what `muster tasks answer ID ANSWER` accepts; `later` only puts the question off. */
export interface AnswerQuestionBody {
  readonly answer: string;
  /** The scope of `always` and `mode`. */
  readonly scope?: string;
  /** The reason for a `no`. */
  readonly reason?: string;
  /** The approved plan, if the person changed it. */
  readonly plan?: string;
  /** A name that the page has chosen for itself, by which it recognizes its own answer in `ClosedQuestion`. */
  readonly client?: string;
}

/** The answer that leaves a question waiting. */
export const LATER = 'later';

/** The choices for a new task. */
export interface StartForm {
  /** The directory in which it works. */
  readonly cwd: string;
  readonly agents: readonly { readonly name: string; readonly description: string }[];
  readonly modes: readonly PermissionMode[];
  readonly defaultMode: PermissionMode;
}

export interface StartRequest {
  readonly prompt: string;
  /** Default: the main agent. */
  readonly agent?: string;
  /** Default: the mode of the configuration. */
  readonly mode?: PermissionMode;
}

/** The reply of a start, after the task exists. */
export interface StartReply {
  readonly id: string;
}

/** The body of every response that refuses a request: 400, 401, 403, 404, 409 (somebody was first), 413, 421, 429, 500. */
export interface ErrorReply {
  readonly error: { readonly code: string; readonly message: string };
}

/** The name of the global in which an exported page finds its data (`ExportedRun`); a page of the server has none. */
export const EXPORT_GLOBAL = 'musterRun';

/** The data of a page that `muster web --export` has written. Secrets are removed. */
export interface ExportedRun {
  readonly overview: Overview;
  /** The events of each task, by id. Texts are cut as in a stream, and the rest is not in the export. */
  readonly events: Readonly<Record<string, readonly LoggedEvent[]>>;
  readonly reports: Readonly<Record<string, TaskReportReply>>;
  readonly diffs: Readonly<Record<string, DiffReply>>;
  /** The timeline and the usage of the exported task. */
  readonly timeline: TimelineReply;
  readonly usage: UsageReply;
  /** Milliseconds since the epoch. */
  readonly exportedAt: number;
}
