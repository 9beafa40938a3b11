import { describeAttachment, isImage, type AttachmentDetails } from '../../protocol/attachment.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { readOpenFile } from '../shared/file-text.ts';
import { failure } from '../shared/output.ts';
import { describeExcess, detectAttachment, inspectAttachment } from './inspect-file.ts';

/**
 * Attaches an image or a PDF document for the model; null for any other file. `head` is the beginning of the file. When
 * it cannot be shown, the output says in one line what the file is, why it is not shown, and what to do.
 */
export async function showAttachment(
  file: OpenFile,
  head: Buffer,
  context: ToolContext,
): Promise<ToolOutput | null> {
  const detected = detectAttachment(head, Number(file.stats.size));
  if (detected === null) return null;
  const shown = displayPath(file.real, context.cwd);
  const refusal = await refusalOf(detected, context);
  if (refusal !== null) return notShown(shown, detected, refusal);
  const bytes = await readOpenFile(file, detected.bytes, context.signal);
  const facts = bytes === null ? 'it has grown while it was read' : inspectAttachment(bytes);
  if (bytes === null || typeof facts === 'string') {
    return notShown(shown, detected, `${facts}. Look at it with a program (Bash)`);
  }
  const attachment =
    describeExcess(facts) ?? (await context.attach?.add(facts, bytes)) ?? CANNOT_ATTACH;
  if (typeof attachment === 'string') return notShown(shown, facts, attachment);
  context.files.remember(file.real, attachment.blob);
  return {
    text: `${shown}: ${describeAttachment(facts)}`,
    attachments: [attachment],
    facts: { read: [{ path: file.real, hash: attachment.blob }] },
  };
}

const CANNOT_ATTACH = 'attachments cannot be shown here';

/** Says why an attachment cannot be shown, before it is read; null when it may be. */
async function refusalOf(facts: AttachmentDetails, context: ToolContext): Promise<string | null> {
  const { attach } = context;
  return (
    describeExcess(facts) ?? (attach === undefined ? CANNOT_ATTACH : await attach.refusal(facts))
  );
}

function notShown(shown: string, facts: AttachmentDetails, reason: string): ToolOutput {
  const otherwise = isImage(facts) ? '' : ' For its text use a program, such as pdftotext (Bash).';
  const text = `${shown}: ${describeAttachment(facts)}. Not shown: ${reason}.${otherwise}`;
  return failure('INVALID_PARAM', text);
}
