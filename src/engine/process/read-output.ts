import { ERROR_CODES } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Attachment } from '../../protocol/attachment.ts';
import type { CallDetails, FileChange, FileSeen, ToolOutput } from '../../protocol/tool.ts';

/**
 * Reads the output of a call from the message of a process that may be hostile. Only the fields that tools of such a
 * process have are taken over: nothing it says can make its text an instruction, withdraw an input or record a command.
 *
 * @param accepted the attachments that the call has added
 * @returns null if it is no output
 */
export function readToolOutput(
  value: JsonValue | undefined,
  accepted: readonly Attachment[],
): ToolOutput | null {
  if (!isJsonObject(value)) return null;
  const { text, error, hasOutsideText } = value;
  const code = ERROR_CODES.find((each) => each === error);
  const facts = value['facts'] === undefined ? undefined : readFacts(value['facts']);
  if (typeof text !== 'string' || facts === null) return null;
  if (error !== undefined && code === undefined) return null;
  const blobs = readList(value['attachments'] ?? [], (each) =>
    isJsonObject(each) && typeof each['blob'] === 'string' ? each['blob'] : null,
  );
  const attachments = accepted.filter(({ blob }) => blobs?.includes(blob) === true);
  return {
    text,
    ...(code === undefined ? {} : { error: code }),
    ...(facts === undefined ? {} : { facts }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(hasOutsideText === true ? { hasOutsideText } : {}),
  };
}

function readFacts(value: JsonValue): CallDetails | null {
  if (!isJsonObject(value)) return null;
  const { read, changed } = value;
  const seen = read === undefined ? undefined : readList(read, readSeen);
  const changes = changed === undefined ? undefined : readList(changed, readChange);
  if (seen === null || changes === null) return null;
  return {
    ...(seen === undefined ? {} : { read: seen }),
    ...(changes === undefined ? {} : { changed: changes }),
  };
}

function readSeen(value: JsonValue): FileSeen | null {
  if (!isJsonObject(value)) return null;
  const { path, hash } = value;
  return typeof path === 'string' && typeof hash === 'string' ? { path, hash } : null;
}

function readChange(value: JsonValue): FileChange | null {
  if (!isJsonObject(value)) return null;
  const { path, before, after, mode, movedFrom, unread } = value;
  if (typeof path !== 'string' || !isHash(before) || !isHash(after)) return null;
  return {
    path,
    before,
    after,
    ...(typeof mode === 'number' ? { mode } : {}),
    ...(typeof movedFrom === 'string' ? { movedFrom } : {}),
    ...(unread === true ? { unread } : {}),
  };
}

function isHash(value: JsonObject[string]): value is string | null {
  return value === null || typeof value === 'string';
}

/** Reads a list. Returns null if the value is no list, or if one of its items cannot be read. */
function readList<T>(value: JsonValue, read: (item: JsonValue) => T | null): readonly T[] | null {
  if (!Array.isArray(value)) return null;
  const items: readonly JsonValue[] = value;
  const result: T[] = [];
  for (const item of items) {
    const each = read(item);
    if (each === null) return null;
    result.push(each);
  }
  return result;
}
