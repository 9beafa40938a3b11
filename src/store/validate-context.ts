import { isJsonObject } from '../base/json.ts';
import { isAttachmentList } from '../protocol/attachment.ts';
import { isMarked } from './large-strings.ts';

/** Its messages are sent, so they are looked at closely; moved to a blob they are to be unpacked yet. */
export function isInherited(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { messages, known, said, counted } = value;
  return (
    Array.isArray(known) &&
    known.every(isSeen) &&
    (counted === undefined || isCounted(counted)) &&
    (said === undefined || (Array.isArray(said) && said.every(isSaid))) &&
    areMessages(messages)
  );
}

/** The same, and so is what stands before them. */
export function isSummarised(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { task, turn, messages, prefix, model } = value;
  return (
    typeof task === 'string' &&
    typeof turn === 'number' &&
    isJsonObject(model) &&
    typeof model['provider'] === 'string' &&
    typeof model['id'] === 'string' &&
    areMessages(messages) &&
    (isMarked(prefix) || isPrefix(prefix))
  );
}

function areMessages(value: unknown): boolean {
  return isMarked(value) || (Array.isArray(value) && value.every(isMessage));
}

function isPrefix(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { system, tools } = value;
  const isText = (each: unknown): boolean => typeof each === 'string';
  return (
    Array.isArray(system) &&
    system.every(isText) &&
    Array.isArray(tools) &&
    tools.every(isJsonObject)
  );
}

function isMessage(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { role, content } = value;
  const isKnown = role === 'user' || role === 'assistant' || role === 'tool';
  return isKnown && Array.isArray(content) && content.every(isPart);
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return value['attachments'] === undefined || isAttachmentList(value['attachments']);
}

function isSaid(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['at'] !== 'number') return false;
  return typeof value['from'] === 'string' && typeof value['text'] === 'string';
}

function isCounted(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return [value['tokens'], value['messages'], value['output']].every(Number.isFinite);
}

export function isGiven(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { text, read } = value;
  return typeof text === 'string' && Array.isArray(read) && read.every(isSeen);
}

function isSeen(value: unknown): boolean {
  return isJsonObject(value) && typeof value['path'] === 'string';
}
