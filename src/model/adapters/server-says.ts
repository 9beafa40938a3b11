import { isJsonObject } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';

const MAX_MESSAGE = 500;

/** What an error body says to a person, in one line; every vendor nests it differently. */
export function serverSays(body: string): string {
  return oneLine(messageIn(parsed(body)) ?? withoutMarkup(body));
}

/** A proxy's page: its title, or what can be read of it. */
function withoutMarkup(body: string): string {
  if (!/^\s*</.test(body)) return body;
  const title = /<title[^>]*>([^<]{1,500})</i.exec(body)?.[1]?.trim() ?? '';
  return title === '' ? body.replace(/<[^<>]*>/g, ' ') : title;
}

/** As JSON, or as it is. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON: a proxy's page or plain text, which is the message then.
    return body;
  }
}

/** The message inside a decoded error of any of the known shapes. */
export function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  for (const key of ['error', 'message', 'detail', 'msg', 'response']) {
    const message = messageIn(value[key]);
    if (message !== undefined && message !== '') return message;
  }
  return undefined;
}

/** Control characters would let a server write to the terminal. */
export function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const short = truncate(line, MAX_MESSAGE);
  return short === line ? line : `${short}…`;
}
