import { lazy } from '../../../base/lazy.ts';
import {
  OPENING_TAGS,
  TAG_PAIRS,
  tagsPattern,
  type TagPair,
  type ThinkingMarks,
} from './thinking-tags.ts';

const CLOSE_PATTERNS = lazy(
  () => new Map(TAG_PAIRS.map((pair) => [pair, new RegExp(tagsPattern(pair.closes))])),
);
const MAX_OPEN_LENGTH = Math.max(...OPENING_TAGS.map(({ open }) => open.length));
/** The maximum number of characters of blank space before a tag that are held back. */
const MAX_GAP = 1000;

export type TaggedPiece =
  | { readonly type: 'text'; readonly text: string }
  /** `thought`: the index of the thought that the piece belongs to. */
  | { readonly type: 'reasoning'; readonly text: string; readonly thought: number };

type State =
  /** At the beginning of the text, or directly after a thought. */
  | { readonly at: 'start'; readonly held: string }
  | { readonly at: 'thought'; readonly pair: TagPair; readonly held: string }
  | { readonly at: 'text' };

/** Splits the text of an answer that begins with thinking tags into thinking and text, piece by piece. */
export class ThinkingSplitter {
  private state: State = { at: 'start', held: '' };
  private readonly thoughtMarks: { before: string; after: string }[] = [];

  /** The tags of each thought in order. */
  get marks(): readonly ThinkingMarks[] {
    return this.thoughtMarks;
  }

  /** True if all that follows is text. */
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

  /** Returns the text that was held back because a tag could have followed. */
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
    const rest = text.slice(lead, lead + MAX_OPEN_LENGTH).toLowerCase();
    const tag = OPENING_TAGS.find(({ open }) => rest.startsWith(open));
    if (tag !== undefined) {
      const end = lead + tag.open.length;
      // The blank space between two thoughts belongs to the end of the first one.
      this.closeThought(text.slice(0, lead));
      this.thoughtMarks.push({
        before: text.slice(this.thoughtMarks.length > 0 ? lead : 0, end),
        after: '',
      });
      return [this.thought(''), ...this.think(text.slice(end), tag.pair)];
    }
    if (lead < MAX_GAP && OPENING_TAGS.some(({ open }) => open.startsWith(rest))) {
      this.state = { at: 'start', held: text };
      return [];
    }
    this.state = { at: 'text' };
    return this.text(text);
  }

  private think(text: string, pair: TagPair): readonly TaggedPiece[] {
    const end = findEnd(text, pair);
    const thought = text.slice(0, end?.at);
    const pieces = thought === '' ? [] : [this.thought(thought)];
    if (end?.isCertain !== true) {
      this.state = { at: 'thought', pair, held: text.slice(thought.length) };
      return pieces;
    }
    this.closeThought(text.slice(end.at, end.at + end.length));
    this.state = { at: 'start', held: '' };
    return [...pieces, ...this.start(text.slice(end.at + end.length))];
  }

  /** Returns text. The blank space between a thought and the text belongs to neither of them. */
  private text(text: string): readonly TaggedPiece[] {
    if (this.thoughtMarks.length === 0) return [{ type: 'text', text }];
    const rest = text.trimStart();
    this.closeThought(text.slice(0, text.length - rest.length));
    return rest === '' ? [] : [{ type: 'text', text: rest }];
  }

  private thought(text: string): TaggedPiece {
    return { type: 'reasoning', text, thought: this.thoughtMarks.length - 1 };
  }

  private closeThought(mark: string): void {
    const last = this.thoughtMarks.at(-1);
    if (last !== undefined) last.after += mark;
  }
}

interface ThoughtEnd {
  readonly at: number;
  readonly length: number;
  /** Default: it may be only the beginning of a tag. False: it is a tag, but a longer one may follow. */
  readonly isCertain?: boolean;
}

/** Finds the end of a thought; null: all of the text belongs to the thought. */
function findEnd(text: string, pair: TagPair): ThoughtEnd | null {
  const { closes } = pair;
  const found = CLOSE_PATTERNS().get(pair)?.exec(text);
  if (found) {
    const rest = text.slice(found.index).toLowerCase();
    const isCertain = !closes.some((close) => close.length > rest.length && close.startsWith(rest));
    return { at: found.index, length: found[0].length, isCertain };
  }
  for (let length = Math.min(maxLength(closes) - 1, text.length); length > 0; length -= 1) {
    const tail = text.slice(-length).toLowerCase();
    if (closes.some((close) => close.startsWith(tail))) return { at: text.length - length, length };
  }
  return null;
}

function maxLength(tags: readonly string[]): number {
  return Math.max(...tags.map(({ length }) => length));
}
