import type { FinishReason } from '../../../protocol/model.ts';
import { toMarksMeta, findMarks, type AnswerBlock, type TextBlock } from './answer-blocks.ts';
import {
  isBetweenNamedTags,
  isTextAboutTag,
  splitAtClosingTag,
  removeClosingTag,
  removeEndTag,
} from './lone-tags.ts';

type Blocks = readonly AnswerBlock[];

/** The blocks of a finished answer, with the thoughts in its text separated from the text. */
export interface SeparatedBlocks {
  readonly blocks: Blocks;
  /** True if the text contained thinking tags. */
  readonly hasTags: boolean;
}

/** Separates the thoughts from the text of a finished answer, and restores tags that enclose no thought. */
export function separateThoughts(blocks: Blocks, reason: FinishReason): SeparatedBlocks {
  const known = restoreNamedTags(restoreOpenTag(blocks, reason));
  const settled = splitAtLoneTag(known) ?? removeStrayTag(known) ?? known;
  const hasTags = settled !== known || settled.some((block) => findTagMarks(block) !== null);
  return { blocks: removeEndTags(settled), hasTags };
}

function findTagMarks(block: AnswerBlock | undefined) {
  return block?.type === 'reasoning' ? findMarks(block.meta) : null;
}

/** Converts the last thought to text if its tag was never closed and the answer is about that tag. */
function restoreOpenTag(blocks: Blocks, reason: FinishReason): Blocks {
  const at = blocks.findLastIndex((block) => findTagMarks(block)?.after === '');
  const [thought, ...others] = blocks.slice(at);
  const marks = findTagMarks(thought);
  const isAlone = others.every((block) => block.type === 'text' && block.text === '');
  if (at === -1 || thought?.type !== 'reasoning' || marks === null) return blocks;
  if (reason !== 'stop' || !isAlone || !isTextAboutTag(thought.text)) return blocks;
  return [...blocks.slice(0, at), toText(marks.before + thought.text, others[0])];
}

/** Converts a thought to text if it only joins the names of its two tags: "<think> and </think> are …". */
function restoreNamedTags(blocks: Blocks): Blocks {
  const at = blocks.findIndex(
    (block) => block.type === 'reasoning' && isBetweenNamedTags(block.text),
  );
  const [thought, next] = blocks.slice(at);
  const marks = findTagMarks(thought);
  if (at === -1 || thought?.type !== 'reasoning' || marks === null) return blocks;
  const following = next?.type === 'text' ? next : undefined;
  const text = marks.before + thought.text + marks.after + (following?.text ?? '');
  const after = blocks.slice(at + (following === undefined ? 1 : 2));
  return [...blocks.slice(0, at), toText(text, following), ...after];
}

/** Creates the text block that replaces a thought and the text block after it. */
function toText(text: string, block: AnswerBlock | undefined): TextBlock {
  return { type: 'text', text, meta: block?.meta, isOpen: false };
}

/** Splits the first text at a closing tag without an opening one; null: there is none. */
function splitAtLoneTag(blocks: Blocks): Blocks | null {
  const at = blocks.findIndex((block) => block.type === 'text');
  const block = blocks[at];
  if (block?.type !== 'text' || blocks.some(({ type }) => type === 'reasoning')) return null;
  const split = splitAtClosingTag(block.text);
  if (split === null) return null;
  // A full answer is a thought only if it contains calls, or if the tag is on a line of its own.
  const hasCall = blocks.some(({ type }) => type === 'call');
  if (split.rest === '' && !hasCall && !/(?:^|\n)[ \t]*$/.test(split.thought)) return null;
  const thought: TextBlock = {
    ...block,
    type: 'reasoning',
    text: split.thought,
    meta: toMarksMeta(split.marks),
  };
  return [...blocks.slice(0, at), thought, { ...block, text: split.rest }, ...blocks.slice(at + 1)];
}

/** Removes the closing tag at the beginning of the text after a thought; null: there is none. */
function removeStrayTag(blocks: Blocks): Blocks | null {
  const at = blocks.findIndex(({ type }) => type === 'text');
  const block = blocks[at];
  if (block?.type !== 'text' || blocks[at - 1]?.type !== 'reasoning') return null;
  const text = removeClosingTag(block.text);
  return text === null ? null : blocks.with(at, { ...block, text });
}

function removeEndTags(blocks: Blocks): Blocks {
  return blocks.map((block, index) => {
    const marks = findTagMarks(blocks[index - 1]);
    if (block.type !== 'text' || marks === null) return block;
    return { ...block, text: removeEndTag(block.text, marks) };
  });
}
