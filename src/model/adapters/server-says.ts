import { isJsonObject } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { errorFields, parseJsonOrText } from './error-fields.ts';
import { readableText, xmlErrorOf } from './readable-text.ts';
import { isWebPage, titleOf } from './web-page.ts';

const MAX_MESSAGE = 500;

/**
 * Returns what an error body says to a person, in one line; every vendor nests it differently. Of a web page
 * it tells the title, and `host`, in whose place it came; of a page or XML inside the message, what a person needs.
 */
export function serverSays(body: string, host: string): string {
  if (isWebPage(body) && xmlErrorOf(body) === null) return oneLine(pageSays(body, host));
  return oneLine(readableText(messageIn(parseJsonOrText(body)) ?? body));
}

/** Says that a web page came in place of an answer, and which one. */
export function pageSays(page: string, host: string): string {
  const title = titleOf(page);
  const named = title === null ? 'without a title' : `"${title}"`;
  return `a web page in place of an answer from ${host}: ${named}`;
}

/** The message inside a decoded error of any of the known shapes. */
export function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  for (const field of errorFields(value)) {
    const message = field.kind === 'message' ? messageIn(field.value) : undefined;
    if (message !== undefined && message !== '') return withCause(message, value);
  }
  return undefined;
}

/** OpenRouter's own message, "Provider returned error", says nothing: what that provider said stands beside it. */
function withCause(message: string, error: Readonly<Record<string, unknown>>): string {
  const { metadata } = error;
  if (!isJsonObject(metadata) || typeof metadata['raw'] !== 'string') return message;
  const raw = messageIn(parseJsonOrText(metadata['raw'])) ?? metadata['raw'];
  return message.includes(raw) ? message : `${message}: ${raw}`;
}

/** Control characters would let a server write to the terminal. */
export function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const short = truncate(line, MAX_MESSAGE);
  return short === line ? line : `${short}…`;
}
