import { lazy } from '../../../base/lazy.ts';
import {
  OPENING_TAGS,
  TAG_PAIRS,
  tagsPattern,
  type TagPair,
  type ThinkingMarks,
} from './thinking-tags.ts';

const CLOSE_OF = lazy(
  () => new Map(TAG_PAIRS.map((pair) => [pair, new RegExp(tagsPattern(pair.closes))])),
);
const LONGEST_OPEN = Math.max(...OPENING_TAGS.map(({ open }) => open.length));
/** Characters of blank space before a tag: more is not held back. */
const LONGEST_GAP = 1000;

export type TaggedPiece =
  | { readonly type: 'text'; readonly text: string }
  /** `thought`: the number of the thought that the piece belongs to. */
  | { readonly type: 'reasoning'; readonly text: string; readonly thought: number };

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
    const tag = OPENING_TAGS.find(({ open }) => rest.startsWith(open));
    if (tag !== undefined) {
      const end = lead + tag.open.length;
      // The blank space between two thoughts stands behind the first one.
      this.closeThought(text.slice(0, lead));
      this.found.push({ before: text.slice(this.found.length > 0 ? lead : 0, end), after: '' });
      return [this.thought(''), ...this.think(text.slice(end), tag.pair)];
    }
    if (lead < LONGEST_GAP && OPENING_TAGS.some(({ open }) => open.startsWith(rest))) {
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
  const found = CLOSE_OF().get(pair)?.exec(text);
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
