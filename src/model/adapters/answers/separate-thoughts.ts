import type { FinishReason } from '../../../protocol/model.ts';
import {
  toThoughtTagsMeta,
  findThoughtTags,
  type AnswerBlock,
  type TextBlock,
} from './answer-blocks.ts';
import { lazy } from '../../../base/lazy.ts';
import { OPENING_TAGS, TAG_PAIRS, createTagsPattern, type ThoughtTags } from './thinking-tags.ts';

type Blocks = readonly AnswerBlock[];

/** The blocks of a finished answer, with the thoughts in its text separated from the text. */
interface SeparatedBlocks {
  readonly blocks: Blocks;
  /** True if the text contained thinking tags. */
  readonly hasTags: boolean;
}

/** Separates the thoughts from the text of a finished answer. Tags that do not enclose a thought become text again. */
export function separateThoughts(blocks: Blocks, reason: FinishReason): SeparatedBlocks {
  const restored = restoreNamedTags(restoreOpenTag(blocks, reason));
  const separated = splitAtLoneTag(restored) ?? removeStrayTag(restored) ?? restored;
  const isChanged = separated !== restored;
  const hasTags = isChanged || separated.some((block) => findBlockTags(block) !== null);
  return { blocks: removeEndTags(separated), hasTags };
}

/** Returns the tags around a thought; null: the block is not a thought that was between tags. */
function findBlockTags(block: AnswerBlock | undefined) {
  return block?.type === 'reasoning' ? findThoughtTags(block.meta) : null;
}

/** Converts the last thought to text if its tag was never closed and the answer only mentions the tag. */
function restoreOpenTag(blocks: Blocks, reason: FinishReason): Blocks {
  const at = blocks.findLastIndex((block) => findBlockTags(block)?.after === '');
  const [thought, ...others] = blocks.slice(at);
  const tags = findBlockTags(thought);
  const isAlone = others.every((block) => block.type === 'text' && block.text === '');
  if (at === -1 || thought?.type !== 'reasoning' || tags === null) return blocks;
  if (reason !== 'stop' || !isAlone || !isTextAboutTag(thought.text)) return blocks;
  return [...blocks.slice(0, at), toText(tags.before + thought.text, others[0])];
}

/** Converts a thought to text if it only connects the two tags of a sentence about them: "<think> and </think> are …". */
function restoreNamedTags(blocks: Blocks): Blocks {
  const at = blocks.findIndex(
    (block) => block.type === 'reasoning' && isBetweenNamedTags(block.text),
  );
  const [thought, next] = blocks.slice(at);
  const tags = findBlockTags(thought);
  if (at === -1 || thought?.type !== 'reasoning' || tags === null) return blocks;
  const following = next?.type === 'text' ? next : undefined;
  const text = tags.before + thought.text + tags.after + (following?.text ?? '');
  const after = blocks.slice(at + (following === undefined ? 1 : 2));
  return [...blocks.slice(0, at), toText(text, following), ...after];
}

/** Creates the text block that replaces a thought and the text block after it. */
function toText(text: string, block: AnswerBlock | undefined): TextBlock {
  return { type: 'text', text, meta: block?.meta, isOpen: false };
}

/** Splits the first text at a closing tag without an opening tag; null: there is no such tag. */
function splitAtLoneTag(blocks: Blocks): Blocks | null {
  const at = blocks.findIndex((block) => block.type === 'text');
  const block = blocks[at];
  if (block?.type !== 'text' || blocks.some(({ type }) => type === 'reasoning')) return null;
  const split = splitAtClosingTag(block.text);
  if (split === null) return null;
  // If no text follows the tag, the text is a thought only if the answer has calls or the tag begins a line.
  const hasCall = blocks.some(({ type }) => type === 'call');
  if (split.rest === '' && !hasCall && !/(?:^|\n)[ \t]*$/.test(split.thought)) return null;
  const thought: TextBlock = {
    ...block,
    type: 'reasoning',
    text: split.thought,
    meta: toThoughtTagsMeta(split.tags),
  };
  return [...blocks.slice(0, at), thought, { ...block, text: split.rest }, ...blocks.slice(at + 1)];
}

/** Removes the closing tag at the beginning of the text after a thought; null: there is no such tag. */
function removeStrayTag(blocks: Blocks): Blocks | null {
  const at = blocks.findIndex(({ type }) => type === 'text');
  const block = blocks[at];
  if (block?.type !== 'text' || blocks[at - 1]?.type !== 'reasoning') return null;
  const text = removeClosingTag(block.text);
  return text === null ? null : blocks.with(at, { ...block, text });
}

function removeEndTags(blocks: Blocks): Blocks {
  return blocks.map((block, index) => {
    const tags = findBlockTags(blocks[index - 1]);
    if (block.type !== 'text' || tags === null) return block;
    return { ...block, text: removeEndTag(block.text, tags) };
  });
}

/** Returns the pattern for any closing tag, except `<|end|>`, which ends every message of gpt-oss and Phi. */
function createClosingTagsPattern(): string {
  return createTagsPattern(
    TAG_PAIRS.flatMap(({ closes }) => closes).filter((close) => close !== '<|end|>'),
  );
}
const OPEN = lazy(() => new RegExp(createTagsPattern(OPENING_TAGS.map(({ open }) => open))));

/** Matches a closing tag that is not quoted: at the beginning or end of a line, directly between words, or between sentences. */
const LONE_CLOSE = lazy(() => {
  const close = createClosingTagsPattern();
  const patterns = [
    String.raw`(?:^|\n)[ \t]*${close}`,
    String.raw`${close}[ \t]*(?=\n|$)`,
    String.raw`(?<![\s"'${'`'}([{])${close}(?![\s"'${'`'}.,;:)}]|\])`,
    String.raw`(?<=[.!?…。！？][ \t]{1,3})${close}(?=[ \t]+[^\p{Ll}\p{P}\s])`,
  ];
  return new RegExp(patterns.join('|'), 'u');
});
const CLOSE_AT_START = lazy(() => {
  const close = createClosingTagsPattern();
  return new RegExp(
    String.raw`^\s*${close}(?:\s*$|[ \t]*\n\s*|(?=[\p{L}\p{N}*#])|[ \t]+(?=[^\p{Ll}\p{P}\s]))`,
    'u',
  );
});

/** A text that was split at a closing tag. */
interface SplitThought {
  readonly thought: string;
  readonly tags: ThoughtTags;
  readonly rest: string;
}

/**
 * Splits a complete text at a closing tag that has no opening tag, because the template of the model puts the opening
 * tag into the prompt. Returns null if the text contains no closing tag, or only a quoted one.
 */
export function splitAtClosingTag(text: string): SplitThought | null {
  const found = LONE_CLOSE().exec(text);
  if (found === null) return null;
  const blank = /^\s*/.exec(found[0])?.[0].length ?? 0;
  const at = found.index + blank;
  const end = found.index + found[0].trimEnd().length;
  const thought = text.slice(0, at);
  if (OPEN().test(thought) || isQuoted(thought)) return null;
  const rest = text.slice(end).trimStart();
  const after = text.slice(at, text.length - rest.length);
  return { thought, tags: { before: '', after }, rest };
}

/** Returns true if the text ends in a code block or in a quoted line. */
function isQuoted(text: string): boolean {
  const fences = text.match(/^[ \t]*(```|~~~)/gm)?.length ?? 0;
  return fences % 2 === 1 || /(?:^|\n)[ \t]*>[^\n]*$/.test(text);
}

/** Removes the closing tag at the beginning of a text whose thought arrived as reasoning; null: there is no tag. */
export function removeClosingTag(text: string): string | null {
  const tag = CLOSE_AT_START().exec(text)?.[0];
  return tag === undefined ? null : text.slice(tag.length);
}

/** Removes the tag with which gpt-oss and Command end an answer. `after`: the tag that closed the thought before the text. */
function removeEndTag(text: string, { after }: ThoughtTags): string {
  if (!after.startsWith('<|')) return text;
  return text.replace(/<\|(?:return|end|END_RESPONSE|end_response)\|>\s*$/, '');
}

/**
 * Returns true if a thought that was never closed is an answer about its opening tag ("<think> tags are used
 * by …"), or contains further messages of gpt-oss.
 */
function isTextAboutTag(thought: string): boolean {
  return /^(?:[ \t]+\p{Ll}|[ \t]*[,.;:)"'`/])/u.test(thought) || thought.includes('<|channel|>');
}

/** Returns true if a thought is only the word or sign between two mentioned tags ("<think> and </think>"). */
function isBetweenNamedTags(thought: string): boolean {
  return /^[ \t"'`]*(?:and|or|to|&|\/|,|…|\.{3})[ \t"'`]*$/i.test(thought);
}
