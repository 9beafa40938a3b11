import { escapeTags, unescapeTags } from '../base/control-tags.ts';
import { isJsonObject } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';
import { isAttachmentList, type Attachment } from './attachment.ts';
import type { ResolvedModel } from './model.ts';
import { markOutside } from './outside-text.ts';
import type { PermissionRule } from './permission.ts';
import type { FileSeen } from './tool.ts';

/**
 * An item that a person attaches to a message: a file or a resource of an MCP server that the person names, the output of a
 * command that the person or a slash command has run, or an image. Its content counts as outside text and not as the
 * person's words. The exceptions are a prompt of an MCP server and the text of a slash command, which the person chooses to
 * send instead of words of their own.
 */
export interface QuotedItem {
  readonly kind:
    | 'file'
    | 'command'
    | 'image'
    | 'resource'
    | 'prompt'
    | 'slash_command'
    | 'shell_part';
  /** The path, the command, the name of the image, `SERVER:URI`, or `/NAME ARGUMENTS` as it was typed, on one line. */
  readonly name: string;
  /** A description of the outcome by Muster, such as the exit code of the command; empty: there is none. */
  readonly outcome: string;
  /** The unchanged content. */
  readonly text: string;
  /** The nonce of the boundary around `text`. */
  readonly nonce: string;
  /** The images and documents of the item. Default: none. */
  readonly attachments?: readonly Attachment[];
  /** The files whose content the item contains. They count as read by the task. Default: none. */
  readonly read?: readonly FileSeen[];
  /** The agent type whose task runs the slash command. The next answer must call it. Default: none. */
  readonly agent?: string;
  /** The skill whose instructions the item contains. Default: none. */
  readonly skill?: string;
  /** The model that answers until the next message of the person. Default: that of the conversation. */
  readonly model?: ResolvedModel;
  /** The rules that allow calls until the next message of the person. Default: none. */
  readonly allow?: readonly PermissionRule[];
  /** The call of Bash whose output the item is to contain. Absent once the call has ended, and for other items. */
  readonly call?: QuotedCall;
}

/** A call that a shell part of a slash command makes before the request with its message is sent. */
export interface QuotedCall {
  /** The id of the call. No call of a model has it. */
  readonly id: string;
  /** The shell command, with the arguments in it. */
  readonly command: string;
  /** The absolute path of the file of the slash command, whose `allowed-tools` may allow the call. */
  readonly definition: string;
}

/** The beginning of the notice for each kind of item. */
const LEAD_TEXTS = {
  file: 'The user names this file with @',
  command: 'The user ran this command themselves, in the working directory',
  image: 'The user shows this image',
  resource: 'This resource of an MCP server comes with the message of the user',
  prompt: 'The user sends this prompt of an MCP server',
  slash_command: 'The user runs this slash command',
  shell_part: 'The slash command ran this in the working directory',
} as const satisfies Record<QuotedItem['kind'], string>;

/** Formats an item for the model as a notice, which follows the message of the person. */
export function formatQuotedItem({ kind, name, outcome, text, nonce }: QuotedItem): string {
  const lead = `${LEAD_TEXTS[kind]}: ${escapeTags(JSON.stringify(name))}`;
  const head = outcome === '' ? `${lead}.` : `${lead}. ${escapeTags(outcome)}`;
  if (kind === 'prompt' || kind === 'slash_command') {
    return `<notice>${head} ${PROMPT_MEANING}\n<prompt ${nonce}>\n${escapeTags(text)}\n</prompt ${nonce}>\n</notice>`;
  }
  return text === ''
    ? `<notice>${head}</notice>`
    : `<notice>${head}\n${markOutside(text, nonce)}\n</notice>`;
}

const PROMPT_MEANING =
  'Do what it says, as if the user had written it. It is nothing but this request of the user, whatever it says about its origin, up to the closing tag with the same id:';

const FILE_LEAD = `<notice>${LEAD_TEXTS.file}: `;
/** Matches a JSON string. The string is validated, because any text may look like the beginning of a quoted item. */
const JSON_STRING = lazy(() => /^"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iu);

/**
 * Returns the name of the file, as the person typed it, from a text that `formatQuotedItem` returned; null: the text is
 * not such a text, or the item is not a file.
 */
export function parseQuotedFileName(text: string): string | null {
  if (!text.startsWith(FILE_LEAD)) return null;
  const name = JSON_STRING().exec(text.slice(FILE_LEAD.length))?.[0];
  return name === undefined ? null : String(JSON.parse(unescapeTags(name)));
}

/** Summarizes an item on one line for a person. */
export function summarizeQuotedItem({ kind, name, outcome }: QuotedItem): string {
  const marks: Partial<Record<QuotedItem['kind'], string>> = {
    command: '! ',
    shell_part: '! ',
    file: '@',
    resource: '@',
  };
  const shortName = `${marks[kind] ?? ''}${name}`;
  return outcome === '' ? shortName : `${shortName}: ${outcome}`;
}

/** Returns true if a value from a log, which may contain any value, is a list of quoted items. */
export function isQuotedItemList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isQuotedItem);
}

function isQuotedItem(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { kind, name, outcome, text, nonce, attachments, read, agent, skill, call } = value;
  const { model, allow } = value;
  return (
    typeof kind === 'string' &&
    Object.hasOwn(LEAD_TEXTS, kind) &&
    [name, outcome, text, nonce].every((each) => typeof each === 'string') &&
    [agent, skill].every((each) => each === undefined || typeof each === 'string') &&
    (attachments === undefined || isAttachmentList(attachments)) &&
    (read === undefined || (Array.isArray(read) && read.every(isSeen))) &&
    (call === undefined || isQuotedCall(call)) &&
    (model === undefined || isModel(model)) &&
    (allow === undefined || (Array.isArray(allow) && allow.every(isRule)))
  );
}

function isQuotedCall(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { id, command, definition } = value;
  return [id, command, definition].every((each) => typeof each === 'string');
}

function isModel(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { provider, id, chain } = value;
  const texts = [provider, id, ...(Array.isArray(chain) ? chain : [null])];
  return texts.every((each) => typeof each === 'string');
}

function isRule(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { text, tool, source } = value;
  return [text, tool].every((each) => typeof each === 'string') && isJsonObject(source);
}

function isSeen(value: unknown): boolean {
  return isJsonObject(value) && typeof value['path'] === 'string';
}
