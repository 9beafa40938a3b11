import { argumentsSchema, ArgumentReader } from './argument-reader.ts';
import type { JsonValue } from '../../base/json.ts';
import { NOTICE_LEVELS, type NoticeLevel } from '../../protocol/events/event.ts';
import type { Tool, ValidationResult } from '../../protocol/tool.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';

/** The input of Notify. */
export interface NotifyInput {
  readonly message: string;
  readonly level: NoticeLevel;
}

/** The maximum length of a message, in UTF-16 units. */
const MAX_LENGTH = 2_000;

/** Creates the tool that reports progress to the user. The parent's model does not get the message. */
export function notifyTool(engine: EngineContext): Tool<NotifyInput> {
  return {
    name: 'Notify',
    kind: 'meta',
    replay: 'pure',
    // Its output is a fixed text.
    ownWords: true,
    description: 'Tell the user of progress, in a line.',
    inputSchema: argumentsSchema(['message'], {
      message: { type: 'string' },
      level: { type: 'string', enum: [...NOTICE_LEVELS] },
    }),
    parse,
    run: async ({ message, level }, context) => {
      requireCaller(engine, context).journal.record({ type: 'notified', level, message });
      return { text: 'noted' };
    },
  };
}

function parse(value: JsonValue): ValidationResult<NotifyInput> {
  const args = new ArgumentReader(value, ['message', 'level']);
  const message = args.text('message', 'a text');
  if (message.length > MAX_LENGTH) {
    args.issues.push(
      `message: has ${message.length} characters; at most ${MAX_LENGTH} are taken, so say it shorter`,
    );
  }
  return args.result({ message, level: args.choice('level', NOTICE_LEVELS, 'info') });
}
