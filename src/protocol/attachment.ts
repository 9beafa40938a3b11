import { isJsonObject } from '../base/json.ts';
import { plural } from '../base/text.ts';

/**
 * Media types that can be shown to a model. The type is determined from the bytes and not from the file name.
 */
export const ATTACHMENT_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
] as const;
export type AttachmentType = (typeof ATTACHMENT_TYPES)[number];

/** The details of an image or a document that are known without showing it. */
export interface AttachmentDetails {
  readonly type: AttachmentType;
  readonly bytes: number;
  /** Width of an image in pixels. */
  readonly width?: number;
  /** Height of an image in pixels. */
  readonly height?: number;
  /** Number of frames of an animated image. */
  readonly frames?: number;
  /** Number of pages of a document. Absent if the file does not reveal it. */
  readonly pages?: number;
}

/**
 * An image or a document that belongs to the result of a call. Its bytes are stored as a blob and not in the
 * log.
 */
export interface Attachment extends AttachmentDetails {
  /** The SHA-256 of the bytes, in hex. */
  readonly blob: string;
  /** The estimated tokens in a request, for the model that it was first shown to. */
  readonly tokens: number;
}

/** The reason why an attachment cannot be shown; null if it can be shown. */
export type WhyNotShown = string | null;

/** The images and documents that a model accepts, and their cost. */
export interface AttachmentRules {
  /** Returns the reason why the model cannot be shown an attachment, as a text after "not shown: ". */
  refusal(facts: AttachmentDetails): WhyNotShown;
  tokens(facts: AttachmentDetails): number;
}

/** Adds images and documents to the conversation of a task. */
export interface AttachPort {
  /** Returns the reason why the task's model cannot be shown it. Call this before the bytes are read. */
  refusal(facts: AttachmentDetails): Promise<WhyNotShown>;
  /** Adds an attachment and stores its bytes; returns the reason if it cannot be shown. */
  add(facts: AttachmentDetails, bytes: Buffer): Promise<Attachment | string>;
  /** Adds an attachment whose bytes are already stored. */
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
    NAMES[type],
    ...(width === undefined || height === undefined ? [] : [`${width} × ${height} pixels`]),
    ...(frames > 1 ? [`${frames} frames`] : []),
    ...(pages === undefined ? [] : [plural(pages, 'page')]),
    plural(bytes, 'byte'),
  ].join(', ');
}

const HASH = /^[0-9a-f]{64}$/;

/** Tells whether a value from a log, which may contain anything, is a list of attachments. */
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
