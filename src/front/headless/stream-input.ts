import type { QuotedItems, Session } from '../../api/index.ts';
import { errorInfo, MusterError, UsageError } from '../../base/errors.ts';
import {
  MAX_INPUT_LINE_BYTES,
  parseInputLine,
  type InputLine,
  type UserMessageLine,
} from '../../protocol/input-line.ts';
import { createRefusal } from '../../protocol/question.ts';
import type { ErrorLine } from '../../protocol/stream-line.ts';
import { printJson } from '../../sys/print.ts';
import { readLines, type InputText } from './read-lines.ts';

/** A message of the program, with the items that go along. */
export interface InputMessage {
  readonly text: string;
  readonly enclosed?: QuotedItems;
}

/** The conversation on which the lines of an input act. */
export interface InputTarget {
  readonly session: Pick<Session, 'answer' | 'interrupt'>;
  /** The id of the conversation; null before it has started. */
  conversation(): string | null;
  /** Gathers the items that a further message to the conversation `to` names. Rejects with MusterError if the message cannot be sent. */
  gather(text: string, to: string): Promise<InputMessage>;
}

/**
 * Reads the lines of `--input-format stream-json`. Yields the messages, and carries out interruptions and answers in their order
 * between them. Prints one error line about each line that could not be used.
 */
export async function* readInputLines(
  stream: AsyncIterable<Buffer>,
  target: InputTarget,
): AsyncGenerator<InputMessage, void, undefined> {
  for await (const line of readLines(stream, MAX_INPUT_LINE_BYTES)) {
    if (line.text?.trim() === '') continue;
    try {
      const message = await useLine(parseText(line), target);
      if (message !== null) yield message;
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      const problem: ErrorLine = { type: 'error', line: line.number, error: errorInfo(thrown) };
      printJson(problem);
    }
  }
}

function parseText({ text }: InputText): Exclude<InputLine, UserMessageLine> {
  if (text !== null) return parseInputLine(text);
  throw new UsageError(`the line is longer than the limit of ${MAX_INPUT_LINE_BYTES} bytes`);
}

/** Carries out a line. Returns the message that it holds, or null. */
async function useLine(
  line: Exclude<InputLine, UserMessageLine>,
  { session, conversation, gather }: InputTarget,
): Promise<InputMessage | null> {
  const id = conversation();
  switch (line.type) {
    case 'user':
      return id === null ? { text: line.text } : gather(line.text, id);
    case 'interrupt':
      if (id === null) throw new MusterError('NOT_FOUND', 'there is no work to interrupt');
      session.interrupt(id);
      return null;
    case 'answer': {
      const { type: _, ...answer } = line;
      session.answer(answer);
      return null;
    }
  }
}

const NOBODY_ANSWERS = 'the input has ended, so nobody can answer';

/** Refuses the open questions of a session and all later ones, because its input has ended. */
export function refuseQuestions(
  session: Pick<Session, 'answer' | 'questions' | 'watchQuestions'>,
): void {
  const refuse = (): void => {
    for (const { question } of session.questions()) {
      try {
        session.answer({ question: question.id, ...createRefusal(question, NOBODY_ANSWERS) });
      } catch (thrown) {
        // Another terminal has answered in the meantime.
        if (!(thrown instanceof MusterError)) throw thrown;
      }
    }
  };
  session.watchQuestions(refuse);
  refuse();
}
