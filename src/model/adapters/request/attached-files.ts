import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import {
  describeAttachment,
  type Attachment,
  type AttachmentRules,
} from '../../../protocol/attachment.ts';
import type { TextPart, ToolResultPart } from '../../../protocol/message.ts';
import type { ModelRequest } from '../../../protocol/model.ts';

/** What goes with the outcome of a call, or with a person's words: files as the packages take them, and a line for each that can't. */
export interface AttachedFiles {
  readonly files: readonly LanguageModelV4FilePart[];
  readonly notes: readonly string[];
}

export type FilesByPart = ReadonlyMap<ToolResultPart | TextPart, AttachedFiles>;

/**
 * The images and documents of a request, for the model that it is for: another one may have been shown
 * them first. The same conversation gives the same bytes each time.
 */
export function collectAttachedFiles(
  request: ModelRequest,
  rules: AttachmentRules | null,
): FilesByPart {
  const shown = new Map<ToolResultPart | TextPart, AttachedFiles>();
  for (const message of request.messages) {
    if (message.role === 'assistant') continue;
    for (const part of message.content) {
      if (part.attachments !== undefined)
        shown.set(part, filesOf(part.attachments, request, rules));
    }
  }
  return shown;
}

function filesOf(
  attachments: readonly Attachment[],
  request: ModelRequest,
  rules: AttachmentRules | null,
): AttachedFiles {
  const files: LanguageModelV4FilePart[] = [];
  const notes: string[] = [];
  for (const attachment of attachments) {
    const why = rules === null ? 'this model takes none' : rules.refusal(attachment);
    const bytes = why === null ? (request.readBlob?.(attachment.blob) ?? null) : null;
    if (bytes === null) {
      const reason = why ?? 'its bytes are kept no more';
      notes.push(`[${describeAttachment(attachment)}. Not shown: ${reason}.]`);
    } else files.push(filePart(attachment, bytes));
  }
  return { files, notes };
}

function filePart({ type }: Attachment, bytes: Uint8Array): LanguageModelV4FilePart {
  // In base64 already: the packages encode bytes one by one.
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return {
    type: 'file',
    mediaType: type,
    data: { type: 'data', data },
    // A server tells a document by its name, too.
    ...(type === 'application/pdf' ? { filename: 'document.pdf' } : {}),
  };
}
