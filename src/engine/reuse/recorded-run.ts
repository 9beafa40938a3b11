import type { ErrorCode } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { CODE_TOOL, FILE_READING_TOOLS } from '../../protocol/file-tools.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { CallDetails, FileSeen } from '../../protocol/tool.ts';
import { containsRedaction } from './reuse-key.ts';

/** A call that has run, with its outcome. */
export interface RecordedCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly text: string;
  readonly error: ErrorCode | null;
  readonly read: readonly FileSeen[];
  /** The id of the task that the call created, or null. */
  readonly child: string | null;
}

/** An ended task that only read. */
export interface RecordedRun {
  readonly spec: TaskSpec;
  readonly result: string;
  readonly endedAt: number;
  readonly calls: readonly RecordedCall[];
  /** The id of the task whose result was reused, or null if the run has its own result. */
  readonly reusedFrom: string | null;
}

type EndedCall = Extract<TaskEvent, { type: 'call.ended' }>;

/** Reads a recorded run from the events of a log, or finds the reason why its result can't be reused. */
export class RecordedRunReader {
  private spec: TaskSpec | null = null;
  private end: { readonly result: string; readonly at: number } | null = null;
  private reusedFrom: string | null = null;
  private claimCount = 0;
  private readonly inputs = new Map<string, JsonValue>();
  private readonly children = new Map<string, string>();
  private readonly endedCalls: EndedCall[] = [];
  private reason: string | null = null;

  readonly add = (event: TaskEvent): void => {
    this.reason ??= this.readEvent(event);
  };

  /** Returns the run, or the reason why its result can't be reused, as the end of a sentence about the task. */
  run(): RecordedRun | string {
    const { spec, end, reason, reusedFrom } = this;
    if (reason !== null) return reason;
    if (spec === null || end === null) return 'has not ended';
    const calls = this.endedCalls.map((call) => this.toRecordedCall(call));
    const incomplete = calls.find((call) => call === null);
    if (incomplete !== undefined)
      return 'has calls whose inputs or outputs its log holds only in part';
    return {
      spec,
      result: end.result,
      endedAt: end.at,
      calls: calls.filter((call) => call !== null),
      reusedFrom,
    };
  }

  private toRecordedCall({ callId, tool, text, error, facts }: EndedCall): RecordedCall | null {
    const input = this.inputs.get(callId);
    if (input === undefined || containsRedaction(text) || containsRedaction(JSON.stringify(input)))
      return null;
    const child = this.children.get(callId) ?? null;
    return { tool, input, text, error, read: facts.read ?? [], child };
  }

  /** Reads an event. Returns the reason why the event prevents reuse, or null. */
  private readEvent(event: TaskEvent): string | null {
    switch (event.type) {
      case 'task.created':
        this.spec = event.spec;
        return event.spec.branchedFrom === undefined ? null : 'is a branch of another task';
      case 'task.claimed':
        this.claimCount += 1;
        return this.claimCount === 1 ? null : 'was resumed';
      case 'task.reused':
        this.reusedFrom = event.of;
        return null;
      case 'call.started':
        this.inputs.set(event.callId, event.input);
        return null;
      case 'call.ended':
        this.endedCalls.push(event);
        return findReuseObstacle(event.tool, event.facts);
      case 'call.refused': {
        // A task with the same inputs gets the same answer to wrong arguments and to a call of an unknown tool.
        const isMistake = event.decision === null && event.error === 'INVALID_PARAM';
        return isMistake || event.decision?.step === 'tool_set' ? null : 'had a call refused';
      }
      case 'child.created':
        this.children.set(event.callId, event.child);
        return event.background ? 'delegated in the background' : null;
      case 'child.ended':
        return event.status === 'completed' ? null : 'has a child that did not complete';
      case 'task.ended':
        this.end = { result: event.result, at: event.ts };
        if (event.end.status !== 'completed') return `ended as ${event.end.status}`;
        // An answer may be right without any call, so the flag about missing calls does not prevent reuse.
        if (event.claims?.some(({ claim }) => claim !== '') === true)
          return 'has an answer that its log does not support';
        return containsRedaction(event.result) ? 'has an answer with a secret in it' : null;
      case 'task.started':
      case 'task.held':
      case 'reuse.missed':
      case 'turn.started':
      case 'turn.held':
      case 'turn.accepted':
      case 'turn.quiet':
      case 'turn.flowing':
      case 'turn.retried':
      case 'turn.ended':
      case 'request.ended':
      case 'context.cleared':
      case 'summary.started':
      case 'context.summarised':
      case 'summary.refused':
      case 'context.dropped':
      case 'context.handed':
      case 'input.withdrawn':
      case 'notified':
      case 'server.logged':
      case 'todos.set':
      case 'warning':
        return null;
      case 'hook.ran':
        return 'ran hooks that had something to say';
      case 'task.resumed':
      case 'task.parked':
        return 'was resumed';
      case 'task.rewound':
      case 'files.restored':
        return 'was rewound';
      case 'terms.changed':
      case 'turn.failed':
        return 'continued with another model or with other terms';
      case 'input.queued':
      case 'turn.interrupted':
        return 'got a message while it ran';
      case 'question.asked':
      case 'question.answered':
      case 'rights.granted':
      case 'rights.restricted':
      case 'rule.removed':
        return 'asked a person';
      case 'call.granted':
        return 'made a call that a hook of the user has granted';
      case 'mode.granted':
        // A grant from a flag or a file is part of the inputs, which are compared.
        if (event.question === undefined) return null;
        return 'asked a person';
      case 'finding.posted':
        return 'posted findings on the board';
      case 'workspace.opened':
      case 'workspace.closed':
        return 'worked in a workspace';
      case 'acceptance.prepared':
      case 'acceptance.started':
      case 'acceptance.checked':
        return 'had its work checked';
      case 'limit.reached':
        return 'reached a limit';
      case 'child.resumed':
      case 'child.detached':
      case 'items.reopened':
        return 'delegated in the background';
      case 'shell.started':
      case 'shell.ended':
        return 'ran commands';
      default:
        return event satisfies never;
    }
  }
}

/** Tools whose calls can be repeated to compare everything that they read. */
const READING_TOOLS = [
  // The answers of language servers depend on more than the files that they name.
  ...FILE_READING_TOOLS.filter((tool) => tool !== CODE_TOOL),
  'JsonParse',
  'JsonStringify',
  'Base64Encode',
  'Base64Decode',
];
/** Tools that read nothing and only keep notes or report progress. */
const NOTE_TOOLS = ['TodoWrite', 'Notify'];

const REPEATABLE_TOOLS: ReadonlySet<string> = new Set([...READING_TOOLS, ...NOTE_TOOLS, 'Task']);

/** Returns true for a tool that reads nothing and only keeps notes or reports progress. */
export function isNoteTool(tool: string): boolean {
  return NOTE_TOOLS.includes(tool);
}

/** Returns the reason why a call prevents reuse, or null. */
function findReuseObstacle(tool: string, details: CallDetails): string | null {
  if (!REPEATABLE_TOOLS.has(tool)) return `used ${tool}`;
  const { read: _, ...others } = details;
  return Object.values(others).some((detail) => detail !== undefined) ? 'did more than read' : null;
}
