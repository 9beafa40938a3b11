import { lazy } from '../../../base/lazy.ts';
import { OPENING_TAGS, TAG_PAIRS, tagsPattern, type ThinkingMarks } from './thinking-tags.ts';

/** Returns the pattern for any closing tag, except `<|end|>`, which ends every message of gpt-oss and Phi. */
function closingTagsPattern(): string {
  return tagsPattern(
    TAG_PAIRS.flatMap(({ closes }) => closes).filter((close) => close !== '<|end|>'),
  );
}
const OPEN = lazy(() => new RegExp(tagsPattern(OPENING_TAGS.map(({ open }) => open))));

/** Matches a closing tag that is not quoted: at an end of a line, directly between words, or between two sentences. */
const LONE_CLOSE = lazy(() => {
  const close = closingTagsPattern();
  const patterns = [
    String.raw`(?:^|\n)[ \t]*${close}`,
    String.raw`${close}[ \t]*(?=\n|$)`,
    String.raw`(?<![\s"'${'`'}([{])${close}(?![\s"'${'`'}.,;:)}]|\])`,
    String.raw`(?<=[.!?…。！？][ \t]{1,3})${close}(?=[ \t]+[^\p{Ll}\p{P}\s])`,
  ];
  return new RegExp(patterns.join('|'), 'u');
});
const CLOSE_AT_START = lazy(() => {
  const close = closingTagsPattern();
  return new RegExp(
    String.raw`^\s*${close}(?:\s*$|[ \t]*\n\s*|(?=[\p{L}\p{N}*#])|[ \t]+(?=[^\p{Ll}\p{P}\s]))`,
    'u',
  );
});

/** A text that was split at a closing tag. */
export interface SplitThought {
  readonly thought: string;
  readonly marks: ThinkingMarks;
  readonly rest: string;
}

/**
 * Splits a complete text that contains only a closing tag, because the template of its model opens the thought in
 * the prompt. Returns null if it contains none, or only a quoted one.
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
  return { thought, marks: { before: '', after }, rest };
}

/** Returns true if the text ends in a code block or in a quoted line. */
function isQuoted(text: string): boolean {
  const fences = text.match(/^[ \t]*(```|~~~)/gm)?.length ?? 0;
  return fences % 2 === 1 || /(?:^|\n)[ \t]*>[^\n]*$/.test(text);
}

/** Removes the closing tag at the beginning of a text if its thought came as reasoning; null: there is no tag. */
export function removeClosingTag(text: string): string | null {
  const tag = CLOSE_AT_START().exec(text)?.[0];
  return tag === undefined ? null : text.slice(tag.length);
}

/** Removes the tag with which gpt-oss and Command end an answer. `after`: the tag that closed its thought. */
export function removeEndTag(text: string, { after }: ThinkingMarks): string {
  if (!after.startsWith('<|')) return text;
  return text.replace(/<\|(?:return|end|END_RESPONSE|end_response)\|>\s*$/, '');
}

/**
 * Returns true if a thought that was never closed is an answer about its opening tag ("<think> tags are used
 * by …"), or contains further messages of gpt-oss.
 */
export function isTextAboutTag(thought: string): boolean {
  return /^(?:[ \t]+\p{Ll}|[ \t]*[,.;:)"'`/])/u.test(thought) || thought.includes('<|channel|>');
}

/** Returns true if a thought is only the text between the names of two tags ("<think> and </think>"). */
export function isBetweenNamedTags(thought: string): boolean {
  return /^[ \t"'`]*(?:and|or|to|&|\/|,|…|\.{3})[ \t"'`]*$/i.test(thought);
}
