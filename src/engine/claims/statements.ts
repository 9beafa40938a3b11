/** A sentence, list item or table row of an answer, outside code blocks and quotes. */
export interface Statement {
  readonly text: string;
  /** What it stands under: headings and the line that leads into a list, newest last. */
  readonly under: readonly string[];
  /** Of a table row: its cells. */
  readonly cells: readonly string[] | null;
  readonly isItem: boolean;
}

/** UTF-16 units of an answer that are looked into: so much of its start, and of its end. */
const LOOKED_INTO = 40_000;
const LONGEST_STATEMENT = 700;
const MOST_STATEMENTS = 2_500;

/** The statements of an answer, in order. */
export function statementsOf(answer: string): readonly Statement[] {
  const statements: Statement[] = [];
  const reader = new BlockReader((block) => {
    if (statements.length >= MOST_STATEMENTS) return;
    const texts = block.cells === null ? sentencesOf(block.text) : [block.text];
    for (const text of texts) {
      const cut = text.slice(0, LONGEST_STATEMENT).trim();
      if (cut !== '') statements.push({ ...block, text: cut });
    }
  });
  for (const line of boundedText(answer).split('\n')) reader.take(line.slice(0, 4_000));
  reader.end();
  return statements;
}

function boundedText(answer: string): string {
  if (answer.length <= 2 * LOOKED_INTO) return answer;
  return `${answer.slice(0, LOOKED_INTO)}\n\n${answer.slice(-LOOKED_INTO)}`;
}

const ITEM = /^(?:[-*+•◦▪‣–—·→➜]|\(?\d{1,3}[.)]|[a-z][.)])\s+/;
const UNCHECKED = /^\[ ?\]\s/;
const HEADING = /^#{1,6}\s+(.*)$/;
const BOLD_LINE = /^(?:\*\*|__)([^*]{1,80})(?:\*\*|__):?$/;
const RULE = /^(?:[-=*_]{3,}|\|?[\s:|-]+\|[\s:|-]*)$/;

/** Joins the lines of a paragraph or list item, and keeps the headings above it. */
class BlockReader {
  private readonly give: (block: Statement) => void;
  private heading: string[] = [];
  private lead = '';
  private open: { text: string; isItem: boolean } | null = null;
  private fence: string | null = null;
  private isFresh = true;
  private isInList = false;

  constructor(give: (block: Statement) => void) {
    this.give = give;
  }

  take(raw: string): void {
    const line = raw.trim();
    const fence = /^(?:`{3,}|~{3,})/.exec(line)?.[0] ?? null;
    if (this.fence !== null) {
      if (fence !== null && fence.startsWith(this.fence) && line === fence) this.fence = null;
      return;
    }
    if (fence !== null) {
      this.end();
      this.fence = fence;
      return;
    }
    if (line === '') {
      this.end();
      this.isFresh = true;
      return;
    }
    const isIndented = /^(?: {4}|\t)/.test(raw);
    if (line.startsWith('>') || (isIndented && this.isFresh && !this.isInList)) return this.end();
    this.takeText(line, /^\s/.test(raw));
    this.isFresh = false;
  }

  private takeText(line: string, isIndented: boolean): void {
    const heading = HEADING.exec(line)?.[1] ?? BOLD_LINE.exec(line)?.[1];
    if (heading !== undefined) {
      this.end();
      this.heading = [heading.replace(/[*_`#]/g, '')];
      this.lead = '';
      this.isInList = false;
      this.give({ text: heading, under: [], cells: null, isItem: false });
      return;
    }
    if (RULE.test(line)) return this.end();
    if (line.startsWith('|')) return this.takeRow(line);
    if (ITEM.test(line)) {
      this.end();
      const text = line.replace(ITEM, '');
      this.isInList = true;
      this.open = UNCHECKED.test(text)
        ? null
        : { text: text.replace(/^\[[xX]\]\s/, ''), isItem: true };
      return;
    }
    if (this.open !== null) {
      this.open.text += ` ${line}`;
      return;
    }
    if (this.isFresh && !isIndented) {
      this.isInList = false;
      this.lead = '';
    }
    this.open = { text: line, isItem: false };
  }

  private takeRow(line: string): void {
    this.end();
    const cells = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    if (cells.at(-1) === '') cells.pop();
    this.give({ text: line.replace(/\|/g, ' | '), under: this.under(), cells, isItem: true });
  }

  private under(): readonly string[] {
    return this.lead === '' ? this.heading : [...this.heading, this.lead];
  }

  end(): void {
    const { open } = this;
    this.open = null;
    if (open === null) return;
    const text = open.text.slice(0, 20_000);
    this.give({ text, under: this.under(), cells: null, isItem: open.isItem });
    if (text.endsWith(':') || text.endsWith(':**')) this.lead = text.slice(-200);
  }
}

/** Words behind which a full stop ends no sentence. */
const ABBREVIATED = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|incl|resp|ca)\.$/i;

/** By full stops and semicolons outside of code. */
function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let from = 0;
  let inCode = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '`') inCode = !inCode;
    const isBreak =
      '.!?;'.includes(character) &&
      (at + 1 === text.length || /[\s*_)"”]/.test(text[at + 1] ?? ''));
    if (
      !isBreak ||
      inCode ||
      (character === '.' && ABBREVIATED.test(text.slice(Math.max(0, at - 10), at + 1)))
    )
      continue;
    sentences.push(text.slice(from, at + 1));
    from = at + 1;
  }
  sentences.push(text.slice(from));
  return sentences;
}
