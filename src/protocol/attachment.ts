import { isJsonObject } from '../base/json.ts';

/** What a model can be shown as it is: its media type, as the bytes say it and no file name. */
export const ATTACHMENT_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
] as const;
export type AttachmentType = (typeof ATTACHMENT_TYPES)[number];

/** What is known of an image or a document without showing it to anybody. */
export interface AttachmentDetails {
  readonly type: AttachmentType;
  readonly bytes: number;
  /** Of images: pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Of images that move. */
  readonly frames?: number;
  /** Of documents; absent: the file does not say it in the open. */
  readonly pages?: number;
}

/** An image or a document that goes with the result of a call. Its bytes are a blob, in no log line. */
export interface Attachment extends AttachmentDetails {
  /** sha256 of the bytes, hex. */
  readonly blob: string;
  /** What it takes in a request, estimated for the model that it was first shown to. */
  readonly tokens: number;
}

/** Null: it may be shown. */
export type WhyNotShown = string | null;

/** What a model takes of images and documents, and what they cost there. */
export interface AttachmentRules {
  /** In words that go on after "not shown: "; the model is named. */
  refusal(facts: AttachmentDetails): WhyNotShown;
  tokens(facts: AttachmentDetails): number;
}

/** The way of images and documents into a task's conversation. */
export interface AttachPort {
  /** Why the task's model can't be shown it: to be asked before the bytes are read. */
  refusal(facts: AttachmentDetails): Promise<WhyNotShown>;
  /** Lets it in and keeps the bytes; in words why not. */
  add(facts: AttachmentDetails, bytes: Buffer): Promise<Attachment | string>;
  /** The same for one that is kept already. */
  addAgain(attachment: Attachment): Promise<WhyNotShown>;
}

const NAMES: Readonly<Record<AttachmentType, string>> = {
  'image/png': 'PNG image',
  'image/jpeg': 'JPEG image',
  'image/gif': 'GIF image',
  'image/webp': 'WebP image',
  'application/pdf': 'PDF document',
};

function isAttachmentType(value: unknown): value is AttachmentType {
  return ATTACHMENT_TYPES.some((type) => type === value);
}

export function isImage({ type }: Pick<AttachmentDetails, 'type'>): boolean {
  return type !== 'application/pdf';
}

/** `PNG image, 640 × 480 pixels, 12345 bytes`. */
export function describeAttachment({
  type,
  bytes,
  width,
  height,
  frames = 1,
  pages,
}: AttachmentDetails): string {
  return [
    NAMES[type],
    ...(width === undefined || height === undefined ? [] : [`${width} × ${height} pixels`]),
    ...(frames > 1 ? [`${frames} frames`] : []),
    ...(pages === undefined ? [] : [pages === 1 ? '1 page' : `${pages} pages`]),
    bytes === 1 ? '1 byte' : `${bytes} bytes`,
  ].join(', ');
}

const HASH = /^[0-9a-f]{64}$/;

/** Whether a part of a log, which may come from anywhere, is such a list. */
export function isAttachmentList(value: unknown): value is readonly Attachment[] {
  return Array.isArray(value) && value.every(isAttachment);
}

function isAttachment(value: unknown): boolean {
  if (!isJsonObject(value) || !isAttachmentType(value['type'])) return false;
  if (typeof value['blob'] !== 'string' || !HASH.test(value['blob'])) return false;
  return isCount(value['bytes']) && isCount(value['tokens']);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function sumAttachmentTokens(attachments: readonly Attachment[] | undefined): number {
  return (attachments ?? []).reduce((sum, { tokens }) => sum + (isCount(tokens) ? tokens : 0), 0);
}
