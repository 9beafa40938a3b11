import { escapeTags } from '../../../base/control-tags.ts';
import { MusterError } from '../../../base/errors.ts';
import { byteLength } from '../../../base/text.ts';
import type { FileSeen } from '../../../protocol/tool.ts';
import type { EngineContext } from '../engine-context.ts';
import type { ContextArgument } from '../../task/context-argument.ts';
import { readTransferredFile } from './transferred-file.ts';
import { transferredResult } from './transferred-result.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';
import {
  formatInitialContext,
  MAX_TRANSFERRED_BYTES,
  type QuotedText,
} from '../../compaction/last-turns.ts';

const LEAD =
  'The agent that gives you this task hands you these with it; what you see here is read.';

/** Files and results of tasks that a call names, whole or not at all: whatever is wrong with one is the error returned. */
export async function chosenContext(
  engine: EngineContext,
  request: TransferRequest,
  { files, results }: Extract<ContextArgument, { kind: 'chosen' }>,
): Promise<TransferredContext | MusterError> {
  const quotes: QuotedText[] = [];
  const read = new Map<string, FileSeen>();
  const handed = new Set<string>();
  for (const word of results) {
    const found = transferredResult(engine, request, word);
    if (found instanceof MusterError) return found;
    if (!handed.has(found.id)) quotes.push(found.quoted);
    handed.add(found.id);
  }
  for (const path of files) {
    const found = await readTransferredFile(engine.deps, request, path);
    if (found instanceof MusterError) return found;
    const isKnown = found.read.length > 0 && found.read.every((seen) => read.has(seen.path));
    if (isKnown) continue;
    for (const seen of found.read) read.set(seen.path, seen);
    quotes.push({ label: `File ${escapeTags(JSON.stringify(path))}:`, text: found.text });
  }
  const bytes = quotes.reduce((sum, { text }) => sum + byteLength(text), 0);
  if (bytes > MAX_TRANSFERRED_BYTES) {
    return new MusterError(
      'LIMIT_EXCEEDED',
      `context: the limit handed_bytes = ${MAX_TRANSFERRED_BYTES} is reached (${bytes} needed). Name less, and let the subagent read the rest itself.`,
    );
  }
  return {
    plan: request.plan,
    given: { text: formatInitialContext(LEAD, quotes), read: [...read.values()] },
    handed: [...handed],
  };
}
