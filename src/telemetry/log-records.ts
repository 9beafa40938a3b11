import type { JsonObject } from '../base/json.ts';
import { dropMissing } from '../base/drop-missing.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { modelName } from '../protocol/model.ts';
import { toSpanName } from './span-texts.ts';

/** The levels of a log file, from the most important. */
const LEVELS = ['error', 'warning', 'info', 'debug'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** A line of a log file without its time. It contains no prompts, answers, arguments or results. */
export interface LogRecord {
  readonly level: LogLevel;
  /** The kind of thing that happened: the type of an event, `notice`, `fault`, `session.started` or `session.ended`. */
  readonly event: string;
  readonly fields: JsonObject;
}

/** Tells whether a record is important enough for a file of this level. */
export function isLogged(level: LogLevel, fileLevel: LogLevel): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(fileLevel);
}

/** Describes an event of a log as a line of the log file. */
export function describeLogRecord(event: TaskEvent): LogRecord {
  const { level, ...fields } = describeEvent(event);
  return { level, event: event.type, fields: { task: event.task, seq: event.seq, ...fields } };
}

type Described = JsonObject & { readonly level: LogLevel };

function describeEvent(event: TaskEvent): Described {
  switch (event.type) {
    case 'task.created': {
      const { agent, parent, model, source } = event.spec;
      const fields = { agent: toSpanName(agent.name), parent, model: modelName(model), source };
      return { level: 'info', ...fields };
    }
    case 'task.started':
    case 'task.parked':
      return { level: 'info' };
    case 'task.resumed':
      return { level: 'info', by: event.by };
    case 'task.ended': {
      const { status, error, by } = event.end;
      const level = status === 'completed' ? 'info' : 'warning';
      return { level, status, ...dropMissing({ error: error?.code, by }) };
    }
    case 'turn.ended': {
      const { turn, model, ms, reason, usage, costUsd } = event;
      return { level: 'debug', turn, model, ms, reason, usage: { ...usage }, costUsd };
    }
    case 'turn.retried':
    case 'turn.failed': {
      const { turn, failure } = event;
      const { kind, status } = failure;
      const wait = event.type === 'turn.retried' ? { waitMs: event.waitMs } : {};
      return { level: 'warning', turn, failure: kind, ...dropMissing({ status }), ...wait };
    }
    case 'call.started':
      return { level: 'debug', callId: event.callId, tool: toSpanName(event.tool) };
    case 'call.ended': {
      const { callId, tool, ms, error } = event;
      const fields = { callId, tool: toSpanName(tool), ms };
      return { level: 'debug', ...fields, ...dropMissing({ error }) };
    }
    case 'call.refused': {
      const { callId, tool, error } = event;
      return { level: 'info', callId, tool: toSpanName(tool), error };
    }
    case 'question.asked': {
      const { id, tool } = event.question;
      return { level: 'info', question: id, tool: toSpanName(tool), parks: event.parks };
    }
    case 'question.answered':
      return { level: 'info', question: event.question };
    case 'child.ended':
      return { level: 'debug', child: event.child, status: event.status };
    case 'limit.reached': {
      const { limit, value, used } = event;
      return { level: 'warning', limit, value, used };
    }
    case 'warning':
      return { level: 'warning', message: event.message };
    default:
      return { level: 'debug' };
  }
}
