import { escapeTags, unescapeTags } from '../base/control-tags.ts';
import { isJsonObject } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';
import { isAttachmentList, type Attachment } from './attachment.ts';
import { markOutside } from './outside-text.ts';
import type { FileSeen } from './tool.ts';

/**
 * An item that a person attaches to a message: a file that they name, the output of their own command, or an
 * image. It is not part of their own words.
 */
export interface QuotedItem {
  readonly kind: 'file' | 'command' | 'image';
  /** The path, the command, or the name of the image, on one line. */
  readonly name: string;
  /** The outcome in Muster's own words; empty if there is nothing to say. */
  readonly outcome: string;
  /** The content, unchanged. */
  readonly text: string;
  /** The nonce of the boundary around the text, which comes from outside. */
  readonly nonce: string;
  readonly attachments?: readonly Attachment[];
  /** Files that it shows, which count as read. Default: none. */
  readonly read?: readonly FileSeen[];
}

const LEADS = {
  file: 'The user names this file with @',
  command: 'The user ran this command themselves, in the working directory',
  image: 'The user shows this image',
} as const satisfies Record<QuotedItem['kind'], string>;

/** Formats an item for the model, after the message that it came with. */
export function formatQuotedItem({ kind, name, outcome, text, nonce }: QuotedItem): string {
  const lead = `${LEADS[kind]}: ${escapeTags(JSON.stringify(name))}`;
  const head = outcome === '' ? `${lead}.` : `${lead}. ${escapeTags(outcome)}`;
  return text === ''
    ? `<notice>${head}</notice>`
    : `<notice>${head}\n${markOutside(text, nonce)}\n</notice>`;
}

const FILE_LEAD = `<notice>${LEADS.file}: `;
/** Matches a JSON string only. A text that merely looks like a quoted item may come from anybody. */
const JSON_STRING = lazy(() => /^"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iu);

/**
 * Returns the name of the file, as the person typed it, from a text of `formatQuotedItem`; null for another
 * text.
 */
export function parseQuotedFileName(text: string): string | null {
  if (!text.startsWith(FILE_LEAD)) return null;
  const name = JSON_STRING().exec(text.slice(FILE_LEAD.length))?.[0];
  return name === undefined ? null : String(JSON.parse(unescapeTags(name)));
}

/** Summarizes an item on one line for a person. */
export function summarizeQuotedItem({ kind, name, outcome }: QuotedItem): string {
  const named = kind === 'command' ? `! ${name}` : kind === 'file' ? `@${name}` : name;
  return outcome === '' ? named : `${named}: ${outcome}`;
}

/** Tells whether a value from a log, which may contain anything, is a list of quoted items. */
export function isQuotedItemList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isQuotedItem);
}

function isQuotedItem(value: unknown): boolean {
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
