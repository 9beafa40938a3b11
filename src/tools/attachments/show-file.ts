import { describeAttachment, isImage, type AttachmentDetails } from '../../protocol/attachment.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/open-in-roots.ts';
import { displayPath } from '../../sys/paths.ts';
import { fileChunks } from '../../sys/read-file.ts';
import { failure } from '../output.ts';
import { whyTooLarge } from './file-limits.ts';
import { announcedFacts, wholeFacts } from './look-at-file.ts';

/**
 * An image or a document for the model to see as it is; null: the file is neither. What can't be shown is
 * told in one line: what it is, why not, what to do. `head`: its first bytes.
 */
export async function showFile(
  file: OpenFile,
  head: Buffer,
  context: ToolContext,
): Promise<ToolOutput | null> {
  const announced = announcedFacts(head, Number(file.stats.size));
  if (announced === null) return null;
  const shown = displayPath(file.real, context.cwd);
  const early = await whyNot(announced, context);
  if (early !== null) return notShown(shown, announced, early);
  const bytes = await wholeFile(file, announced.bytes, context);
  const facts = bytes === null ? 'it has grown while it was read' : wholeFacts(bytes);
  if (bytes === null || typeof facts === 'string') {
    return notShown(shown, announced, `${facts}. Look at it with a program (Bash)`);
  }
  const attachment =
    whyTooLarge(facts) ?? (await context.attach?.add(facts, bytes)) ?? NOTHING_SHOWN;
  if (typeof attachment === 'string') return notShown(shown, facts, attachment);
  context.files.remember(file.real, attachment.blob);
  return {
    text: `${shown}: ${describeAttachment(facts)}`,
    attachments: [attachment],
    facts: { read: [{ path: file.real, hash: attachment.blob }] },
  };
}

const NOTHING_SHOWN = 'nothing can be shown here';

async function whyNot(facts: AttachmentDetails, { attach }: ToolContext): Promise<string | null> {
  return whyTooLarge(facts) ?? (attach === undefined ? NOTHING_SHOWN : await attach.refusal(facts));
}

function notShown(shown: string, facts: AttachmentDetails, why: string): ToolOutput {
  const otherwise = isImage(facts) ? '' : ' For its text use a program, such as pdftotext (Bash).';
  const text = `${shown}: ${describeAttachment(facts)}. Not shown: ${why}.${otherwise}`;
  return failure('INVALID_PARAM', text);
}

/** Null: there is more of it than it said. */
async function wholeFile(
  file: OpenFile,
  size: number,
  { signal }: ToolContext,
): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of fileChunks(file, signal)) {
    read += chunk.length;
    if (read > size) return null;
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
