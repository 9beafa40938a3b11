import { isJsonObject } from '../base/json.ts';
import { plural } from '../base/text.ts';

/**
 * The media types that can be sent to a model. The type is determined from the bytes and not from the file name.
 */
export const ATTACHMENT_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
] as const;
/** The media types that can be sent to a model. The type is found in the bytes and not in the file name. */
export type AttachmentType = (typeof ATTACHMENT_TYPES)[number];

/** The details of an image or a document that decide whether a model accepts it, and how many tokens it takes. */
export interface AttachmentDetails {
  /** The media type. */
  readonly type: AttachmentType;
  /** The size in bytes. */
  readonly bytes: number;
  /** Width of an image in pixels. */
  readonly width?: number;
  /** Height of an image in pixels. */
  readonly height?: number;
  /** Number of frames of an animated image. */
  readonly frames?: number;
  /** Number of pages of a document. Absent if the number can't be read from the file. */
  readonly pages?: number;
}

/**
 * An image or a document that belongs to the result of a call or to a message of a person. The bytes are stored as a blob
 * and not in the log.
 */
export interface Attachment extends AttachmentDetails {
  /** The SHA-256 of the bytes, in hex. */
  readonly blob: string;
  /** The estimated number of tokens in a request, for the model to which the attachment was first sent. */
  readonly tokens: number;
}

/** The reason why a model cannot be sent an attachment, as a text that follows "not shown: "; null: it can be sent. */
export type AttachmentRefusal = string | null;

/** The images and documents that a model accepts, and their cost. */
export interface AttachmentRules {
  /** Returns the reason why the model does not accept an attachment; null: the model accepts it. */
  refusal(details: AttachmentDetails): AttachmentRefusal;
  /** Estimates the number of tokens of an attachment in a request. */
  tokens(details: AttachmentDetails): number;
}

/** Adds images and documents to the conversation of a task. */
export interface AttachPort {
  /** Returns the reason why the model of the task does not accept an attachment. Call this before the bytes are read. */
  refusal(details: AttachmentDetails): Promise<AttachmentRefusal>;
  /** Stores the bytes and returns the attachment for the result of the call; a string is the reason for a refusal. */
  add(details: AttachmentDetails, bytes: Buffer): Promise<Attachment | string>;
  /** Adds an attachment whose bytes are already stored. Returns the reason for a refusal, or null. */
  addAgain(attachment: Attachment): Promise<AttachmentRefusal>;
}

const TYPE_NAMES: Readonly<Record<AttachmentType, string>> = {
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

/** Describes an attachment: `PNG image, 640 × 480 pixels, 12345 bytes`. */
export function describeAttachment({
  type,
  bytes,
  width,
  height,
  frames = 1,
  pages,
}: AttachmentDetails): string {
  return [
    TYPE_NAMES[type],
    ...(width === undefined || height === undefined ? [] : [`${width} × ${height} pixels`]),
    ...(frames > 1 ? [`${frames} frames`] : []),
    ...(pages === undefined ? [] : [plural(pages, 'page')]),
    plural(bytes, 'byte'),
  ].join(', ');
}

const HASH = /^[0-9a-f]{64}$/;

/** Returns true if a value from a log, which may contain any value, is a list of attachments. */
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

/** Adds up the estimated tokens of attachments. Invalid numbers in a log count as 0. */
export function sumAttachmentTokens(attachments: readonly Attachment[] | undefined): number {
  return (attachments ?? []).reduce((sum, { tokens }) => sum + (isCount(tokens) ? tokens : 0), 0);
}
