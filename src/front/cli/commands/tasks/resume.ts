import { defineCommand } from '../../command.ts';
import { MESSAGE_FLAGS, MESSAGE_OPERANDS, parseMessage, sendMessage } from './message.ts';

/** `muster tasks resume` */
export const tasksResumeCommand = defineCommand({
  words: 'tasks resume',
  summary: 'continue a task, in its process or else in this one; TEXT is its next message',
  operands: MESSAGE_OPERANDS,
  flags: MESSAGE_FLAGS,
  examples: ['muster tasks resume 4f2k9x', 'muster tasks resume 4f2k9x "Now run the tests"'],
  parse: parseMessage,
  run: (options) => sendMessage(options),
});
