import { escapeTags, unescapeTags } from '../base/control-tags.ts';
import { isJsonObject } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';
import { isAttachmentList, type Attachment } from './attachment.ts';
import { markOutside } from './outside-text.ts';
import type { FileSeen } from './tool.ts';

/**
 * What a person lays beside their words: a file that they name, what a command of theirs has printed, an
 * image. It is no word of theirs.
 */
export interface QuotedItem {
  readonly kind: 'file' | 'command' | 'image';
  /** The path, the command, or how the image is called: as it came, on one line. */
  readonly name: string;
  /** In words of Muster's own, what came of it; empty: nothing to say. */
  readonly outcome: string;
  /** As it came. */
  readonly text: string;
  /** Of the boundary around the text, which is from outside. */
  readonly nonce: string;
  readonly attachments?: readonly Attachment[];
  /** Files that it shows: they count as read. Absent: none. */
  readonly read?: readonly FileSeen[];
}

const LEADS = {
  file: 'The user names this file with @',
  command: 'The user ran this command themselves, in the working directory',
  image: 'The user shows this image',
} as const satisfies Record<QuotedItem['kind'], string>;

/** What a model reads of it, behind the words that it came with. */
export function formatQuotedItem({ kind, name, outcome, text, nonce }: QuotedItem): string {
  const lead = `${LEADS[kind]}: ${escapeTags(JSON.stringify(name))}`;
  const head = outcome === '' ? `${lead}.` : `${lead}. ${escapeTags(outcome)}`;
  return text === ''
    ? `<notice>${head}</notice>`
    : `<notice>${head}\n${markOutside(text, nonce)}\n</notice>`;
}

const FILE_LEAD = `<notice>${LEADS.file}: `;
/** Nothing that is no string of JSON: what only looks like an enclosure may be anybody's words. */
const JSON_STRING = lazy(() => /^"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iu);

/** The file whose `enclosureText` it is, as the person named it; null: it is none. */
export function parseQuotedFileName(text: string): string | null {
  if (!text.startsWith(FILE_LEAD)) return null;
  const name = JSON_STRING().exec(text.slice(FILE_LEAD.length))?.[0];
  return name === undefined ? null : String(JSON.parse(unescapeTags(name)));
}

/** One line for a person. */
export function summarizeQuotedItem({ kind, name, outcome }: QuotedItem): string {
  const named = kind === 'command' ? `! ${name}` : kind === 'file' ? `@${name}` : name;
  return outcome === '' ? named : `${named}: ${outcome}`;
}

/** Whether a part of a log, which may come from anywhere, is such a list. */
export function isQuotedItemList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isEnclosure);
}

function isEnclosure(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { kind, name, outcome, text, nonce, attachments, read } = value;
  return (
    typeof kind === 'string' &&
    Object.hasOwn(LEADS, kind) &&
    [name, outcome, text, nonce].every((each) => typeof each === 'string') &&
    (attachments === undefined || isAttachmentList(attachments)) &&
    (read === undefined || (Array.isArray(read) && read.every(isSeen)))
  );
}

function isSeen(value: unknown): boolean {
  return isJsonObject(value) && typeof value['path'] === 'string';
}
