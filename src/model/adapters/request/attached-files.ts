import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import {
  describeAttachment,
  type Attachment,
  type AttachmentRules,
} from '../../../protocol/attachment.ts';
import type { TextPart, ToolResultPart } from '../../../protocol/message.ts';
import type { ModelRequest } from '../../../protocol/model.ts';

/** The attachments of one part: files in the form of the provider packages, and a note for each file that can't be sent. */
export interface AttachedFiles {
  readonly files: readonly LanguageModelV4FilePart[];
  readonly notes: readonly string[];
}

/** The attachments of a request by the part to which they belong. */
export type FilesByPart = ReadonlyMap<ToolResultPart | TextPart, AttachedFiles>;

/**
 * Collects the images and documents of a request. Each file that the model does not accept becomes a note, because an
 * earlier model of the conversation may have accepted other types. The same conversation always gives the same bytes.
 * `rules`: null if the rules of the model are not known.
 */
export function collectAttachedFiles(
  request: ModelRequest,
  rules: AttachmentRules | null,
): FilesByPart {
  const filesByPart = new Map<ToolResultPart | TextPart, AttachedFiles>();
  for (const message of request.messages) {
    if (message.role === 'assistant') continue;
    for (const part of message.content) {
      if (part.attachments !== undefined)
        filesByPart.set(part, toFiles(part.attachments, request, rules));
    }
  }
  return filesByPart;
}

function toFiles(
  attachments: readonly Attachment[],
  request: ModelRequest,
  rules: AttachmentRules | null,
): AttachedFiles {
  const files: LanguageModelV4FilePart[] = [];
  const notes: string[] = [];
  for (const attachment of attachments) {
    const refusal = rules === null ? 'this model accepts none' : rules.refusal(attachment);
    const bytes = refusal === null ? (request.readBlob?.(attachment.blob) ?? null) : null;
    if (bytes === null) {
      const reason = refusal ?? 'its bytes are no longer stored';
      notes.push(`[${describeAttachment(attachment)}. Not shown: ${reason}.]`);
    } else files.push(toFilePart(attachment, bytes));
  }
  return { files, notes };
}

function toFilePart({ type }: Attachment, bytes: Uint8Array): LanguageModelV4FilePart {
  // The bytes are encoded here, because the packages would encode them byte by byte, which is slow.
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return {
    type: 'file',
    mediaType: type,
    data: { type: 'data', data },
    // Some servers recognize a document by its name.
    ...(type === 'application/pdf' ? { filename: 'document.pdf' } : {}),
  };
}
