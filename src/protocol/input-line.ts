import { UsageError } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';

/** One line of the input of `--input-format stream-json`. Fields that are not named here have no effect. */
export type InputLine = UserLine | UserMessageLine | InterruptLine | AnswerLine;

/** A message of the user: the first one starts the conversation, and each further one is its next message. */
export interface UserLine {
  readonly type: 'user';
  /** The message. */
  readonly text: string;
}

/** A message of the user in the form of the Claude Agent SDK. */
export interface UserMessageLine {
  readonly type: 'user';
  /** The message. */
  readonly message: {
    readonly role: 'user';
    /** The text, or its parts. */
    readonly content: string | readonly { readonly type: 'text'; readonly text: string }[];
  };
}

/** Interrupts the current work. The next message continues the conversation. */
export interface InterruptLine {
  readonly type: 'interrupt';
}

/** The answer to a question of an event `question.asked`. */
export interface AnswerLine {
  readonly type: 'answer';
  /** The id of the question. */
  readonly question: string;
  /** The answer, as `muster tasks answer` accepts it: `yes`, `no` or `always` for a permission. */
  readonly text: string;
  /** The reason for a `no`. */
  readonly reason?: string;
  /** The scope of an `always`. Default: `task`, the conversation. */
  readonly scope?: string;
}

/** The maximum size of an input line in bytes. */
export const MAX_INPUT_LINE_BYTES = 10_000_000;

const FORMS = '{"type":"user","text":"…"}, {"type":"interrupt"} or {"type":"answer",…}';

/** Parses a line of input. Both forms of a user's message become a `UserLine`. Throws UsageError for any other text. */
export function parseInputLine(line: string): Exclude<InputLine, UserMessageLine> {
  const value = parseJsonLine(line);
  if (value === undefined) throw new UsageError(`the line is not JSON; valid: ${FORMS}`);
  if (!isJsonObject(value)) throw new UsageError(`the line is not a JSON object; valid: ${FORMS}`);
  switch (value['type']) {
    case 'user':
      return { type: 'user', text: readUserText(value) };
    case 'interrupt':
      return { type: 'interrupt' };
    case 'answer':
      return readAnswer(value);
    default:
      throw new UsageError(`the line has no known type; valid: ${FORMS}`);
  }
}

function readUserText(line: JsonObject): string {
  const text = line['message'] === undefined ? line['text'] : readContent(line['message']);
  if (typeof text !== 'string') {
    throw new UsageError(
      'a message needs its text: {"type":"user","text":"…"} or {"type":"user","message":{"role":"user","content":"…"}}',
    );
  }
  if (text.trim() === '') throw new UsageError('the message is empty');
  return text;
}

/** Returns the text of a message of the Claude Agent SDK, or undefined if it has none. */
function readContent(message: unknown): string | undefined {
  if (!isJsonObject(message)) return undefined;
  const { role, content } = message;
  if (role !== 'user') throw new UsageError('message.role must be "user"');
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const parts: readonly unknown[] = content;
  const texts = parts.map((part) => {
    const isText = isJsonObject(part) && part['type'] === 'text';
    if (isText && typeof part['text'] === 'string') return part['text'];
    throw new UsageError(
      'message.content may only hold parts of the form {"type":"text","text":"…"}',
    );
  });
  return texts.join('\n\n');
}

function readAnswer(line: JsonObject): AnswerLine {
  const { question, text, reason, scope } = line;
  if (typeof question !== 'string' || typeof text !== 'string') {
    throw new UsageError(
      'an answer needs the id of the question and a text: {"type":"answer","question":"…","text":"yes"}',
    );
  }
  return {
    type: 'answer',
    question,
    text,
    ...readOptionalText('reason', reason),
    ...readOptionalText('scope', scope),
  };
}

function readOptionalText<Name extends string>(
  name: Name,
  value: unknown,
): Partial<Record<Name, string>> {
  if (value === undefined) return {};
  if (typeof value !== 'string') throw new UsageError(`${name} of an answer must be a text`);
  // The computed key has the type of the parameter.
  return { [name]: value } as Record<Name, string>;
}
