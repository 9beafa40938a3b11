/**
 * The tags between which models think. A server with a parser for its model turns them into reasoning;
 * others leave them in the text. Sources: the chat templates of DeepSeek, Qwen, MiniMax, Magistral and Seed.
 */
const TAGS: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
];
const LONGEST_OPEN = Math.max(...TAGS.map(([open]) => open.length));

export interface TaggedPiece {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** The marks around a thought, exactly as they stood in the text. */
export interface ThinkingMarks {
  readonly before: string;
  readonly after: string;
}

type State =
  | { readonly at: 'start'; readonly held: string }
  | { readonly at: 'thought'; readonly close: string; readonly held: string }
  /** Behind the closing tag, where blank space belongs to neither side. */
  | { readonly at: 'gap' }
  | { readonly at: 'text' };

/** Splits the text of an answer that begins with a thinking tag into thinking and text, piece by piece. */
export class ThinkingSplitter {
  private state: State = { at: 'start', held: '' };
  private before = '';
  private after = '';

  /** The marks that were found; null: the text holds no thinking. */
  get marks(): ThinkingMarks | null {
    return this.before === '' ? null : { before: this.before, after: this.after };
  }

  /** Whether all that follows is text. */
  get isDecided(): boolean {
    return this.state.at === 'text';
  }

  take(piece: string): readonly TaggedPiece[] {
    switch (this.state.at) {
      case 'start':
        return this.start(this.state.held + piece);
      case 'thought':
        return this.think(this.state.held + piece, this.state.close);
      case 'gap':
        return this.skipGap(piece);
      case 'text':
        return [{ type: 'text', text: piece }];
    }
  }

  /** Gives what was held back because more of a tag could have followed. */
  end(): readonly TaggedPiece[] {
    const { state } = this;
    this.state = { at: 'text' };
    if (state.at === 'text' || state.at === 'gap' || state.held === '') return [];
    return [{ type: state.at === 'start' ? 'text' : 'reasoning', text: state.held }];
  }

  private start(text: string): readonly TaggedPiece[] {
    const lead = text.length - text.trimStart().length;
    const rest = text.slice(lead, lead + LONGEST_OPEN);
    const tag = TAGS.find(([open]) => rest.startsWith(open));
    if (tag !== undefined) {
      const [open, close] = tag;
      this.before = text.slice(0, lead + open.length);
      this.state = { at: 'thought', close, held: '' };
      return this.think(text.slice(this.before.length), close);
    }
    if (TAGS.some(([open]) => open.startsWith(rest))) {
      this.state = { at: 'start', held: text };
      return [];
    }
    this.state = { at: 'text' };
    return [{ type: 'text', text }];
  }

  private think(text: string, close: string): readonly TaggedPiece[] {
    const end = text.indexOf(close);
    if (end !== -1) {
      this.after = close;
      this.state = { at: 'gap' };
      const rest = this.skipGap(text.slice(end + close.length));
      return [{ type: 'reasoning', text: text.slice(0, end) }, ...rest];
    }
    const held = partialTail(text, close);
    this.state = { at: 'thought', close, held };
    const said = text.slice(0, text.length - held.length);
    return said === '' ? [] : [{ type: 'reasoning', text: said }];
  }

  private skipGap(piece: string): readonly TaggedPiece[] {
    const text = piece.trimStart();
    this.after += piece.slice(0, piece.length - text.length);
    if (text === '') return [];
    this.state = { at: 'text' };
    return [{ type: 'text', text }];
  }
}

/** The longest end of the text that may be the beginning of the tag. */
function partialTail(text: string, tag: string): string {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (tag.startsWith(text.slice(-length))) return text.slice(-length);
  }
  return '';
}

/** A closing tag as no quotation of it stands: at an end of a line, or between words without a blank. */
const CLOSING_ONLY =
  /(?:^|\n)[ \t]*<\/think>|<\/think>[ \t]*(?=\n|$)|(?<![\s"'`([{])<\/think>(?![\s"'`)\]}.,;:])/;

/**
 * Splits a complete text that holds only the closing tag, because the template of its model opens the
 * thought in the prompt. Null: it holds none, or only as a quotation.
 */
export function splitAtClosingTag(
  text: string,
): { readonly thought: string; readonly marks: ThinkingMarks; readonly rest: string } | null {
  const found = CLOSING_ONLY.exec(text);
  if (found === null) return null;
  const at = text.indexOf('</think>', found.index);
  const thought = text.slice(0, at);
  const isFenced = (thought.match(/^[ \t]*(```|~~~)/gm)?.length ?? 0) % 2 === 1;
  if (isFenced || thought.includes('<think>')) return null;
  const rest = text.slice(at + '</think>'.length).trimStart();
  return { thought, marks: { before: '', after: text.slice(at, text.length - rest.length) }, rest };
}
