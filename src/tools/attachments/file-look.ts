import type { AttachmentDetails } from '../../protocol/attachment.ts';

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** What a whole file shows: a flaw, by which a server would refuse it, and with it the whole conversation. */
export type Looked = { readonly flaw: string } | Pick<AttachmentDetails, 'frames' | 'pages'>;

/**
 * One format. All bytes are hostile: nothing is decoded, no length that stands in them is believed, and
 * each look goes through them once.
 */
export interface FileLook {
  /** Whether these first bytes of a file say that it is of this format. */
  begins(head: Buffer): boolean;
  /** As the beginning of the file says; null: it says none, or none that can be. */
  size(head: Buffer): PixelSize | null;
  look(bytes: Buffer): Looked;
}
