import { UsageError } from '../../../../base/errors.ts';
import { defineCommand } from '../../command.ts';
import { readPrompt } from '../../stdin.ts';
import {
  MESSAGE_FLAGS,
  MESSAGE_OPERANDS,
  parseMessage,
  sendMessage,
  type MessageOptions,
} from './message.ts';

/** `muster tasks send` */
export const tasksSendCommand = defineCommand({
  words: 'tasks send',
  summary: 'send a message to a task at work; an ended task continues with it',
  operands: MESSAGE_OPERANDS,
  flags: MESSAGE_FLAGS,
  examples: [
    'muster tasks send 4f2k9x "Leave the tests alone"',
    'git diff | muster tasks send 4f2k9x',
  ],
  parse: parseMessage,
  run: (options) => sendMessage(options, () => readText(options)),
});

async function readText({ id, run }: MessageOptions): Promise<string> {
  if (run.prompt === null && process.stdin.isTTY === true) {
    throw new UsageError(`no text: muster tasks send ${id} TEXT, or pipe one in`);
  }
  return readPrompt(run.prompt);
}
