import type { FinishReason } from '../../../protocol/model.ts';
import {
  toMarksMeta,
  findThinkingMarks,
  type AnswerBlock,
  type TextBlock,
} from './answer-blocks.ts';
import {
  isBetweenNamedTags,
  isTextAboutTag,
  splitAtClosingTag,
  removeClosingTag,
  removeEndTag,
} from './lone-tags.ts';

/** The blocks of an answer after its end, with each thought that stands in its text apart from the text. */
export interface SeparatedBlocks {
  readonly blocks: readonly AnswerBlock[];
  /** Whether tags of thinking stood in the text. */
  readonly hasTags: boolean;
}

/** Decides about the tags in the text of a complete answer which of them enclose a thought. */
export function separateThoughts(
  blocks: readonly AnswerBlock[],
  reason: FinishReason,
): SeparatedBlocks {
  const known = withNamedTagsAsText(withOpenTagAsText(blocks, reason));
  const settled = withThoughtApart(known) ?? withoutStrayTag(known) ?? known;
  const hasTags = settled !== known || settled.some((block) => tagMarks(block) !== null);
  return { blocks: withoutEndTags(settled), hasTags };
}

function tagMarks(block: AnswerBlock | undefined) {
  return block?.type === 'reasoning' ? findThinkingMarks(block.meta) : null;
}

/** Makes the last thought a text if its tag was never closed and the answer is about that tag. */
function withOpenTagAsText(
  blocks: readonly AnswerBlock[],
  reason: FinishReason,
): readonly AnswerBlock[] {
  const at = blocks.findLastIndex((block) => tagMarks(block)?.after === '');
  const [thought, ...others] = blocks.slice(at);
  const marks = tagMarks(thought);
  const isAlone = others.every((block) => block.type === 'text' && block.text === '');
  if (at === -1 || thought?.type !== 'reasoning' || marks === null) return blocks;
  if (reason !== 'stop' || !isAlone || !isTextAboutTag(thought.text)) return blocks;
  return [...blocks.slice(0, at), asText(marks.before + thought.text, others[0])];
}

/** Makes a thought a text if it only joins the names of its two tags: "<think> and </think> are …". */
function withNamedTagsAsText(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] {
  const at = blocks.findIndex(
    (block) => block.type === 'reasoning' && isBetweenNamedTags(block.text),
  );
  const [thought, next] = blocks.slice(at);
  const marks = tagMarks(thought);
  if (at === -1 || thought?.type !== 'reasoning' || marks === null) return blocks;
  const following = next?.type === 'text' ? next : undefined;
  const text = marks.before + thought.text + marks.after + (following?.text ?? '');
  const after = blocks.slice(at + (following === undefined ? 1 : 2));
  return [...blocks.slice(0, at), asText(text, following), ...after];
}

/** A text in the place of a thought and of the text block behind it. */
function asText(text: string, block: AnswerBlock | undefined): TextBlock {
  return { type: 'text', text, meta: block?.meta, isOpen: false };
}

/** Takes the thought out of the first text that holds only its closing tag. Null: none does. */
function withThoughtApart(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] | null {
  const at = blocks.findIndex((block) => block.type === 'text');
  const block = blocks[at];
  if (block?.type !== 'text' || blocks.some(({ type }) => type === 'reasoning')) return null;
  const split = splitAtClosingTag(block.text);
  if (split === null) return null;
  // A whole answer is a thought only if calls follow it, or if the tag stands on a line of its own.
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

/** Removes the closing tag at the beginning of the text whose thought stands before it. Null: it has none. */
function withoutStrayTag(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] | null {
  const at = blocks.findIndex(({ type }) => type === 'text');
  const block = blocks[at];
  if (block?.type !== 'text' || blocks[at - 1]?.type !== 'reasoning') return null;
  const text = removeClosingTag(block.text);
  return text === null ? null : blocks.with(at, { ...block, text });
}

function withoutEndTags(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] {
  return blocks.map((block, index) => {
    const marks = tagMarks(blocks[index - 1]);
    if (block.type !== 'text' || marks === null) return block;
    return { ...block, text: removeEndTag(block.text, marks) };
  });
}
