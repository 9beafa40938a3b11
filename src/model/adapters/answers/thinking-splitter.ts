import { lazy } from '../../../base/lazy.ts';
import {
  OPENING_TAGS,
  TAG_PAIRS,
  createTagsPattern,
  type TagPair,
  type ThoughtTags,
} from './thinking-tags.ts';

const CLOSE_PATTERNS = lazy(
  () => new Map(TAG_PAIRS.map((pair) => [pair, new RegExp(createTagsPattern(pair.closes))])),
);
const MAX_OPEN_LENGTH = Math.max(...OPENING_TAGS.map(({ open }) => open.length));
/** The maximum number of blank characters before a tag that are held back until the tag is complete. */
const MAX_GAP = 1000;

export type TaggedPiece =
  | { readonly type: 'text'; readonly text: string }
  /** `thought`: the index of the thought that the piece belongs to. */
  | { readonly type: 'reasoning'; readonly text: string; readonly thought: number };

type State =
  /** At the beginning of the text, or directly after a thought. `held`: text that may be the beginning of a tag. */
  | { readonly at: 'start'; readonly held: string }
  | { readonly at: 'thought'; readonly pair: TagPair; readonly held: string }
  | { readonly at: 'text' };

/** Splits the text of an answer that begins with thinking tags into thinking and text, piece by piece. */
export class ThinkingSplitter {
  private state: State = { at: 'start', held: '' };
  private readonly thoughtTags: { before: string; after: string }[] = [];

  /** The tags of each thought in order. */
  get tags(): readonly ThoughtTags[] {
    return this.thoughtTags;
  }

  /** True if all following pieces are text. */
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
      // The blank space between two thoughts belongs to the end of the first thought.
      this.closeThought(text.slice(0, lead));
      this.thoughtTags.push({
        before: text.slice(this.thoughtTags.length > 0 ? lead : 0, end),
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

  /** Returns a piece of text. The blank space between a thought and the text is stored with the closing tag. */
  private text(text: string): readonly TaggedPiece[] {
    if (this.thoughtTags.length === 0) return [{ type: 'text', text }];
    const rest = text.trimStart();
    this.closeThought(text.slice(0, text.length - rest.length));
    return rest === '' ? [] : [{ type: 'text', text: rest }];
  }

  private thought(text: string): TaggedPiece {
    return { type: 'reasoning', text, thought: this.thoughtTags.length - 1 };
  }

  /** Appends a closing tag, or blank space next to it, to the tags of the last thought. */
  private closeThought(text: string): void {
    const last = this.thoughtTags.at(-1);
    if (last !== undefined) last.after += text;
  }
}

/** The position of a closing tag, or of the beginning of a closing tag at the end of the text. */
interface ThoughtEnd {
  readonly at: number;
  readonly length: number;
  /** True for a complete tag; false for a complete tag that may be the beginning of a longer tag. Absent for the beginning of a tag. */
  readonly isCertain?: boolean;
}

/** Finds the end of a thought; null: the full text belongs to the thought. */
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
