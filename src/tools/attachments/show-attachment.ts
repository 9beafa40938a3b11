import { describeAttachment, isImage, type AttachmentDetails } from '../../protocol/attachment.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { readOpenFile } from '../shared/file-text.ts';
import { failure } from '../shared/output.ts';
import { describeExcess, detectAttachment, inspectAttachment } from './inspect-file.ts';

/**
 * Attaches an image or a PDF document for the model. Returns null for any other file. If the attachment cannot be
 * shown, the output says in one line what the file is, why it is not shown, and what to do.
 *
 * @param head the beginning of the file
 */
export async function showAttachment(
  file: OpenFile,
  head: Buffer,
  context: ToolContext,
): Promise<ToolOutput | null> {
  const detected = detectAttachment(head, Number(file.stats.size));
  if (detected === null) return null;
  const shown = displayPath(file.real, context.cwd);
  const refusal = await findRefusal(detected, context);
  if (refusal !== null) return createRefusalOutput(shown, detected, refusal);
  const bytes = await readOpenFile(file, detected.bytes, context.signal);
  const details = bytes === null ? 'it has grown while it was read' : inspectAttachment(bytes);
  if (bytes === null || typeof details === 'string') {
    return createRefusalOutput(shown, detected, `${details}. Look at it with a program (Bash)`);
  }
  const attachment =
    describeExcess(details) ?? (await context.attach?.add(details, bytes)) ?? CANNOT_ATTACH;
  if (typeof attachment === 'string') return createRefusalOutput(shown, details, attachment);
  context.files.remember(file.real, attachment.blob);
  return {
    text: `${shown}: ${describeAttachment(details)}`,
    attachments: [attachment],
    facts: { read: [{ path: file.real, hash: attachment.blob }] },
  };
}

const CANNOT_ATTACH = 'attachments cannot be shown here';

/** Describes why an attachment cannot be shown, before its file is read. Returns null if it can be shown. */
async function findRefusal(
  details: AttachmentDetails,
  context: ToolContext,
): Promise<string | null> {
  const { attach } = context;
  return (
    describeExcess(details) ??
    (attach === undefined ? CANNOT_ATTACH : await attach.refusal(details))
  );
}

function createRefusalOutput(
  shown: string,
  details: AttachmentDetails,
  reason: string,
): ToolOutput {
  const otherwise = isImage(details)
    ? ''
    : ' For its text use a program, such as pdftotext (Bash).';
  const text = `${shown}: ${describeAttachment(details)}. Not shown: ${reason}.${otherwise}`;
  return failure('INVALID_PARAM', text);
}
