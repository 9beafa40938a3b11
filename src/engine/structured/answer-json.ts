import { errorMessage } from '../../base/errors.ts';
import { visitJsonValues, isDeeperThan, type JsonValue } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';

/** Objects and lists within each other. */
const MOST_LEVELS = 200;
const REASON_LENGTH = 200;

export type AnswerJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly why: string };

/**
 * The JSON that an answer is: the whole of it; else what its one block fenced as `json` holds, or its one
 * fenced block where none says so. Nothing else is looked for: what an answer quotes in passing is not
 * its result.
 */
export function parseAnswerJson(answer: string): AnswerJson {
  const whole = parse(answer);
  if (whole.ok) return whole;
  const blocks = fencedBlocks(answer);
  const named = blocks.filter(({ language }) => language === 'json');
  const candidates = named.length > 0 ? named : blocks.filter(({ language }) => language === '');
  const [block] = candidates;
  if (block === undefined) return whole;
  if (candidates.length > 1) {
    return { ok: false, why: `it holds ${candidates.length} blocks of JSON; one value is wanted` };
  }
  return parse(block.text);
}

function parse(text: string): AnswerJson {
  let value: JsonValue;
  try {
    value = JSON.parse(text.trim());
  } catch (thrown) {
    const said = truncate(collapseWhitespace(errorMessage(thrown)), REASON_LENGTH);
    return { ok: false, why: `it is not JSON: ${said}` };
  }
  if (isDeeperThan(value, MOST_LEVELS)) {
    return { ok: false, why: `it is nested more than ${MOST_LEVELS} levels deep` };
  }
  for (const { value: each } of visitJsonValues(value)) {
    if (typeof each === 'number' && !Number.isFinite(each)) {
      return { ok: false, why: 'it holds a number that is too large' };
    }
  }
  return { ok: true, value };
}

interface FencedBlock {
  /** The word behind the opening fence, lower case; empty: none. */
  readonly language: string;
  readonly text: string;
}

/** A line of JSON is never a fence, so a block of it ends where it seems to. */
function fencedBlocks(text: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly language: string; readonly lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const fence = line.trim();
    if (open === null) {
      if (fence.startsWith('```')) {
        open = { language: fence.slice(3).trim().toLowerCase(), lines: [] };
      }
    } else if (fence === '```') {
      blocks.push({ language: open.language, text: open.lines.join('\n') });
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}
