import { isJsonObject } from '../../base/json.ts';
import { isAttachmentList } from '../../protocol/attachment.ts';
import { isBlobMark } from './large-strings.ts';
import { isArrayOf, isStringArray } from './validate-terms.ts';

/**
 * Checks a forked conversation closely, because its messages are sent to a model. Messages that were moved to a blob are
 * not decoded yet.
 */
export function isForkedConversation(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { messages, known, said, counted } = value;
  return (
    isArrayOf(known, isReadFile) &&
    (counted === undefined || isTokenCount(counted)) &&
    (said === undefined || isArrayOf(said, isForkedReply)) &&
    areMessages(messages)
  );
}

/** Checks a conversation that is to be summarized as closely, and the prefix of its requests. */
export function isSummarizedConversation(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { task, turn, messages, prefix, model } = value;
  return (
    typeof task === 'string' &&
    typeof turn === 'number' &&
    isJsonObject(model) &&
    typeof model['provider'] === 'string' &&
    typeof model['id'] === 'string' &&
    areMessages(messages) &&
    (isBlobMark(prefix) || isPrefix(prefix))
  );
}

export function isInitialContext(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return typeof value['text'] === 'string' && isArrayOf(value['read'], isReadFile);
}

function areMessages(value: unknown): boolean {
  return isBlobMark(value) || isArrayOf(value, isMessage);
}

function isPrefix(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return isStringArray(value['system']) && isArrayOf(value['tools'], isJsonObject);
}

function isMessage(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { role, content } = value;
  const isKnown = role === 'user' || role === 'assistant' || role === 'tool';
  return isKnown && isArrayOf(content, isPart);
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return value['attachments'] === undefined || isAttachmentList(value['attachments']);
}

function isForkedReply(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['at'] !== 'number') return false;
  return typeof value['from'] === 'string' && typeof value['text'] === 'string';
}

function isTokenCount(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return [value['tokens'], value['messages'], value['output']].every(Number.isFinite);
}

function isReadFile(value: unknown): boolean {
  return isJsonObject(value) && typeof value['path'] === 'string';
}
