import { lazy } from '../../../base/lazy.ts';
import { OPENING_TAGS, TAG_PAIRS, tagsPattern, type ThinkingMarks } from './thinking-tags.ts';

/** `<|end|>` ends any message of gpt-oss and Phi. */
function anyClose(): string {
  return tagsPattern(
    TAG_PAIRS.flatMap(({ closes }) => closes).filter((close) => close !== '<|end|>'),
  );
}
const OPEN = lazy(() => new RegExp(tagsPattern(OPENING_TAGS.map(({ open }) => open))));

/**
 * Matches a closing tag that is not being quoted: at an end of a line, between words without a blank, or
 * between two sentences.
 */
const LONE_CLOSE = lazy(() => {
  const close = anyClose();
  const places = [
    String.raw`(?:^|\n)[ \t]*${close}`,
    String.raw`${close}[ \t]*(?=\n|$)`,
    String.raw`(?<![\s"'${'`'}([{])${close}(?![\s"'${'`'}.,;:)}]|\])`,
    String.raw`(?<=[.!?…。！？][ \t]{1,3})${close}(?=[ \t]+[^\p{Ll}\p{P}\s])`,
  ];
  return new RegExp(places.join('|'), 'u');
});
const CLOSE_AT_START = lazy(() => {
  const close = anyClose();
  return new RegExp(
    String.raw`^\s*${close}(?:\s*$|[ \t]*\n\s*|(?=[\p{L}\p{N}*#])|[ \t]+(?=[^\p{Ll}\p{P}\s]))`,
    'u',
  );
});

export interface SplitThought {
  readonly thought: string;
  readonly marks: ThinkingMarks;
  readonly rest: string;
}

/**
 * Splits a complete text that holds only the closing tag, because the template of its model opens the
 * thought in the prompt. Null: it holds none, or only as a quotation.
 */
export function splitAtClosingTag(text: string): SplitThought | null {
  const found = LONE_CLOSE().exec(text);
  if (found === null) return null;
  const blank = /^\s*/.exec(found[0])?.[0].length ?? 0;
  const at = found.index + blank;
  const end = found.index + found[0].trimEnd().length;
  const thought = text.slice(0, at);
  if (OPEN().test(thought) || isShown(thought)) return null;
  const rest = text.slice(end).trimStart();
  const after = text.slice(at, text.length - rest.length);
  return { thought, marks: { before: '', after }, rest };
}

/** Whether the end of the text stands in a code block or in a quoted line. */
function isShown(text: string): boolean {
  const fences = text.match(/^[ \t]*(```|~~~)/gm)?.length ?? 0;
  return fences % 2 === 1 || /(?:^|\n)[ \t]*>[^\n]*$/.test(text);
}

/** Removes the closing tag with which a text begins whose thought came as reasoning. Null: it has none. */
export function removeClosingTag(text: string): string | null {
  const tag = CLOSE_AT_START().exec(text)?.[0];
  return tag === undefined ? null : text.slice(tag.length);
}

/** Removes the tag with which gpt-oss and Command end an answer whose thought had these marks. */
export function removeEndTag(text: string, { after }: ThinkingMarks): string {
  if (!after.startsWith('<|')) return text;
  return text.replace(/<\|(?:return|end|END_RESPONSE|end_response)\|>\s*$/, '');
}

/**
 * Whether a thought that was never closed is an answer about the tag with which it begins ("<think> tags are
 * used by …"), or holds further messages of gpt-oss.
 */
export function isTextAboutTag(thought: string): boolean {
  return /^(?:[ \t]+\p{Ll}|[ \t]*[,.;:)"'`/])/u.test(thought) || thought.includes('<|channel|>');
}

/** Whether a thought is only what stands between two tags that are named, and no thought. */
export function isBetweenNamedTags(thought: string): boolean {
  return /^[ \t"'`]*(?:and|or|to|&|\/|,|…|\.{3})[ \t"'`]*$/i.test(thought);
}
