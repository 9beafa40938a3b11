/** The tags that begin and end a thought, in lower case: models write them in any case. */
interface TagPair {
  readonly opens: readonly string[];
  readonly closes: readonly string[];
}

/**
 * The tags between which models think. A server with a parser for its model turns them into reasoning;
 * others leave them in the text. Sources: the chat templates of DeepSeek, Qwen, MiniMax, Seed, Magistral,
 * Kimi, Command, Gemma and gpt-oss.
 */
const TAGS: readonly TagPair[] = [
  { opens: ['<think>'], closes: ['</think>'] },
  { opens: ['<thinking>'], closes: ['</thinking>'] },
  { opens: ['<thought>'], closes: ['</thought>'] },
  { opens: ['<seed:think>'], closes: ['</seed:think>'] },
  { opens: ['[think]'], closes: ['[/think]'] },
  { opens: ['◁think▷'], closes: ['◁/think▷'] },
  {
    opens: ['<|start_thinking|>'],
    closes: ['<|end_thinking|><|start_response|>', '<|end_thinking|>'],
  },
  { opens: ['<|channel>thought\n'], closes: ['<channel|>'] },
  {
    opens: ['<|channel|>analysis<|message|>', '<|start|>assistant<|channel|>analysis<|message|>'],
    closes: [
      '<|end|><|start|>assistant<|channel|>final<|message|>',
      '<|start|>assistant<|channel|>final<|message|>',
      '<|channel|>final<|message|>',
      '<|end|>',
    ],
  },
];
const OPENS = TAGS.flatMap((pair) => pair.opens.map((open) => ({ open, pair })));
const CLOSE_OF = new Map(TAGS.map((pair) => [pair, new RegExp(anyOf(pair.closes))]));
const LONGEST_OPEN = Math.max(...OPENS.map(({ open }) => open.length));

/** Characters of blank space before a tag: more is not held back. */
const LONGEST_GAP = 1000;

export type TaggedPiece =
  | { readonly type: 'text'; readonly text: string }
  /** `thought`: the number of the thought that the piece belongs to. */
  | { readonly type: 'reasoning'; readonly text: string; readonly thought: number };

/** The marks around a thought, exactly as they stood in the text. */
export interface ThinkingMarks {
  readonly before: string;
  readonly after: string;
}

type State =
  /** Before a thought: at the beginning of the text, or behind a thought. */
  | { readonly at: 'start'; readonly held: string }
  | { readonly at: 'thought'; readonly pair: TagPair; readonly held: string }
  | { readonly at: 'text' };

/** Splits the text of an answer that begins with thinking tags into thinking and text, piece by piece. */
export class ThinkingSplitter {
  private state: State = { at: 'start', held: '' };
  private readonly found: { before: string; after: string }[] = [];

  /** The marks of each thought, in their order. */
  get marks(): readonly ThinkingMarks[] {
    return this.found;
  }

  /** Whether all that follows is text. */
  get isDecided(): boolean {
    return this.state.at === 'text';
  }

  take(piece: string): readonly TaggedPiece[] {
    const { state } = this;
    switch (state.at) {
      case 'start':
        return this.start(state.held + piece);
      case 'thought':
        return this.think(state.held + piece, state.pair);
      case 'text':
        return [{ type: 'text', text: piece }];
    }
  }

  /** Returns the text that was held back because more of a tag could have followed. */
  end(): readonly TaggedPiece[] {
    const { state } = this;
    this.state = { at: 'text' };
    if (state.at === 'text' || state.held === '') return [];
    if (state.at === 'start') return this.text(state.held);
    const end = findEnd(state.held, state.pair);
    if (end?.isCertain === undefined) return [this.thought(state.held)];
    this.closeThought(state.held.slice(end.at));
    return end.at === 0 ? [] : [this.thought(state.held.slice(0, end.at))];
  }

  private start(text: string): readonly TaggedPiece[] {
    const lead = text.length - text.trimStart().length;
    const rest = text.slice(lead, lead + LONGEST_OPEN).toLowerCase();
    const tag = OPENS.find(({ open }) => rest.startsWith(open));
    if (tag !== undefined) {
      const end = lead + tag.open.length;
      // The blank space between two thoughts stands behind the first one.
      this.closeThought(text.slice(0, lead));
      this.found.push({ before: text.slice(this.found.length > 0 ? lead : 0, end), after: '' });
      return [this.thought(''), ...this.think(text.slice(end), tag.pair)];
    }
    if (lead < LONGEST_GAP && OPENS.some(({ open }) => open.startsWith(rest))) {
      this.state = { at: 'start', held: text };
      return [];
    }
    this.state = { at: 'text' };
    return this.text(text);
  }

  private think(text: string, pair: TagPair): readonly TaggedPiece[] {
    const end = findEnd(text, pair);
    const said = text.slice(0, end?.at);
    const pieces = said === '' ? [] : [this.thought(said)];
    if (end?.isCertain !== true) {
      this.state = { at: 'thought', pair, held: text.slice(said.length) };
      return pieces;
    }
    this.closeThought(text.slice(end.at, end.at + end.length));
    this.state = { at: 'start', held: '' };
    return [...pieces, ...this.start(text.slice(end.at + end.length))];
  }

  /** Behind a thought, the blank space before the text belongs to neither of them. */
  private text(text: string): readonly TaggedPiece[] {
    if (this.found.length === 0) return [{ type: 'text', text }];
    const rest = text.trimStart();
    this.closeThought(text.slice(0, text.length - rest.length));
    return rest === '' ? [] : [{ type: 'text', text: rest }];
  }

  private thought(text: string): TaggedPiece {
    return { type: 'reasoning', text, thought: this.found.length - 1 };
  }

  private closeThought(mark: string): void {
    const last = this.found.at(-1);
    if (last !== undefined) last.after += mark;
  }
}

interface End {
  readonly at: number;
  readonly length: number;
  /** Absent: it may only be the beginning of a tag. False: it is a tag, and may be a longer one. */
  readonly isCertain?: boolean;
}

/** Finds the end of a thought. Null: all of the text is thought. */
function findEnd(text: string, pair: TagPair): End | null {
  const { closes } = pair;
  const found = CLOSE_OF.get(pair)?.exec(text);
  if (found) {
    const rest = text.slice(found.index).toLowerCase();
    const isCertain = !closes.some((close) => close.length > rest.length && close.startsWith(rest));
    return { at: found.index, length: found[0].length, isCertain };
  }
  for (let length = Math.min(longest(closes) - 1, text.length); length > 0; length -= 1) {
    const tail = text.slice(-length).toLowerCase();
    if (closes.some((close) => close.startsWith(tail))) return { at: text.length - length, length };
  }
  return null;
}

function longest(tags: readonly string[]): number {
  return Math.max(...tags.map(({ length }) => length));
}

/** Returns a pattern for any of the tags in any case; the longest one where several begin at one place. */
function anyOf(tags: readonly string[]): string {
  const longestFirst = tags.toSorted((a, b) => b.length - a.length);
  const patterns = longestFirst.map((tag) =>
    tag
      .replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
      .replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`),
  );
  return `(?:${patterns.join('|')})`;
}

/** `<|end|>` ends any message of gpt-oss and Phi. */
const CLOSE = anyOf(TAGS.flatMap(({ closes }) => closes).filter((close) => close !== '<|end|>'));
const OPEN = new RegExp(anyOf(OPENS.map(({ open }) => open)));

/**
 * Matches a closing tag that is not being quoted: at an end of a line, between words without a blank, or
 * between two sentences.
 */
const LONE_CLOSE = new RegExp(
  [
    String.raw`(?:^|\n)[ \t]*${CLOSE}`,
    String.raw`${CLOSE}[ \t]*(?=\n|$)`,
    String.raw`(?<![\s"'${'`'}([{])${CLOSE}(?![\s"'${'`'}.,;:)}]|\])`,
    String.raw`(?<=[.!?…。！？][ \t]{1,3})${CLOSE}(?=[ \t]+[^\p{Ll}\p{P}\s])`,
  ].join('|'),
  'u',
);
const CLOSE_AT_START = new RegExp(
  String.raw`^\s*${CLOSE}(?:\s*$|[ \t]*\n\s*|(?=[\p{L}\p{N}*#])|[ \t]+(?=[^\p{Ll}\p{P}\s]))`,
  'u',
);

export interface SplitText {
  readonly thought: string;
  readonly marks: ThinkingMarks;
  readonly rest: string;
}

/**
 * Splits a complete text that holds only the closing tag, because the template of its model opens the
 * thought in the prompt. Null: it holds none, or only as a quotation.
 */
export function splitAtClosingTag(text: string): SplitText | null {
  const found = LONE_CLOSE.exec(text);
  if (found === null) return null;
  const blank = /^\s*/.exec(found[0])?.[0].length ?? 0;
  const at = found.index + blank;
  const end = found.index + found[0].trimEnd().length;
  const thought = text.slice(0, at);
  if (OPEN.test(thought) || isShown(thought)) return null;
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
export function withoutClosingTag(text: string): string | null {
  const tag = CLOSE_AT_START.exec(text)?.[0];
  return tag === undefined ? null : text.slice(tag.length);
}

/** Removes the tag with which gpt-oss and Command end an answer whose thought had these marks. */
export function withoutEndTag(text: string, { after }: ThinkingMarks): string {
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
