import { byteLength, plural } from '../../base/text.ts';
import type { AnyTool, ToolCaps, ToolContext } from '../../protocol/tool.ts';
import { spillText } from '../../tools/shared/output.ts';

/** The bytes by which a tool may exceed its limits before its output is cut here. */
const CAP_SLACK = 4_096;
/** The most bytes that one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** The bytes reserved for the line between head and tail. */
const NOTE_BYTES = 1_000;

/** Says whether an output fits into a request as it is. Tools limit their own output, but not all of them do. */
export function isWithinCaps(
  text: string,
  { name }: Pick<AnyTool, 'name'>,
  { resultBytes, readBytes }: ToolCaps,
): boolean {
  const most = (name === 'Read' ? readBytes : resultBytes) + CAP_SLACK;
  return text.length <= most / MAX_BYTES_PER_UNIT || byteLength(text) <= most;
}

/**
 * Returns the text of an output for a request. An output above the limits is cut to its beginning and its end,
 * and the full text goes into the spill file of the call.
 */
export function fitOutput(
  text: string,
  tool: Pick<AnyTool, 'name'>,
  context: Pick<ToolContext, 'caps' | 'spillPath' | 'redactBytes'>,
): string {
  if (isWithinCaps(text, tool, context.caps)) return text;
  const bytes = Buffer.from(text, 'utf8');
  const half = Math.max(0, Math.floor((context.caps.resultBytes - NOTE_BYTES) / 2));
  const head = takeHead(bytes, half);
  const tail = takeTail(bytes, half);
  const left = bytes.length - byteLength(head) - byteLength(tail);
  return `${head}\n[… ${plural(left, 'byte')} left out; ${spillText(text, context)} …]\n${tail}`;
}

/** Returns the beginning: full lines if they fill at least half of the size, or else full characters. */
function takeHead(bytes: Buffer, most: number): string {
  const end = bytes.lastIndexOf('\n', most - 1);
  if (end > most / 2) return bytes.toString('utf8', 0, end);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, most), {
    stream: true,
  });
}

function takeTail(bytes: Buffer, most: number): string {
  let from = bytes.length - most;
  const line = bytes.indexOf('\n', from) + 1;
  if (line > 0 && line < bytes.length - most / 2) return bytes.toString('utf8', line);
  while (((bytes[from] ?? 0) & 0b1100_0000) === 0b1000_0000) from += 1;
  return bytes.toString('utf8', from);
}
