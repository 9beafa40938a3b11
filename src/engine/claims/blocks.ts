/** A paragraph, heading, list item or table row of an answer, outside of code blocks and quotes. */
export interface Block {
  readonly text: string;
  /** The heading, and the line that leads into its list or heads its table. */
  readonly under: string;
  /** Number of the list or table that it is an item of; null: it is none. */
  readonly list: number | null;
}

const LONGEST_LINE = 4_000;
const LONGEST_BLOCK = 20_000;
const ITEM = /^(?:[-*+•–—]|\(?\d{1,3}[.)]|[a-z]\))\s+/;
const UNTICKED = /^(?:[-*+]|\d+[.)])\s+\[ ?\]/;
const HEADING = /^(?:#{1,6}\s+(.*)|(?:\*\*|__)([^*]{1,80})(?:\*\*:?|__:?))$/;
/** A line which is nothing but a path, or explains some. */
const PATHS_FIRST =
  /^(?:[\w.@-]+\/)+[\w.@-]*\.[a-z\d]{1,6}$|^`?(?:[\w.@-]+\/)*[\w.@-]+\.[a-z\d]{1,6}`?(?:, (?:[\w.@-]+\/)*[\w.@-]+\.[a-z\d]{1,6})*(?: [–—-]|:) /i;
const RULE = /^(?:[-=*_]{3,}|[|:\s-]{3,})$/;
const FENCE = /^(?:`{3,}|~{3,})/;
/** A line of code that says of a command how it went, or behind whose prompt output stands. */
const OUTCOME =
  /^(\S.{0,200}?)\s*(?:#|→|->|=>)?\s*([✅✔✓☑][^\n]*|(?:#|→|->|=>) *(?:ok|passe[sd]|clean)\b.*)$/iu;
/** A listing has a path at the start of each line, and maybe what it is behind it. */
const LISTED =
  /^(?:[AMDRU+~*-] +)?((?:[\w.@+-]+\/)*[\w.@+-]*[\w-]\/?)(?:(?: {2,}|\t| *[|#—–] *| +(?=\(|<-|- ))(.*))?$/;
/** In front of what lies in a directory, in the tree that a listing may be. */
const BRANCH = /^[\s│├└─|`+-]*[├└|`+](?:─+|--+) /u;
/** Number of the list that headings are: there may be one for each file. */
const HEADINGS = -1;
/** Stands between the cells of a row. */
const CELL = ' ¦ ';

/** The blocks of a text in Markdown, in order. */
export function blocksOf(text: string): readonly Block[] {
  const reader = new BlockReader();
  for (const line of text.split('\n')) reader.take(line.slice(0, LONGEST_LINE));
  reader.take('');
  return reader.blocks;
}

class BlockReader {
  readonly blocks: Block[] = [];
  private lines: string[] = [];
  private heading = '';
  private lead = '';
  private list = 0;
  private isItem = false;
  private fence: string | null = null;
  private code: string[] = [];
  /** The command behind a prompt, whose output is to come. */
  private prompted: string | null = null;
  /** Behind an empty line. */
  private isFresh = true;

  take(raw: string): void {
    const line = raw.trim();
    const fence = FENCE.exec(line)?.[0] ?? null;
    if (this.fence !== null) {
      if (fence === line && fence.startsWith(this.fence)) this.endCode();
      else this.takeCode(line);
      return;
    }
    const isCode = this.isFresh && !this.isItem && /^(?: {4}|\t)/.test(raw);
    if (fence !== null || line === '' || line.startsWith('>') || RULE.test(line) || isCode) {
      this.end();
      if (isCode && fence === null && line !== '') this.code.push(line);
      else this.endCode();
      this.fence = fence;
      if (line === '') this.isFresh = true;
      else if (line.startsWith('|')) this.lead += ` ${this.blocks.pop()?.text ?? ''}`;
      return;
    }
    this.endCode();
    this.takeText(line, { isIndented: /^\s/.test(raw) });
    this.isFresh = false;
  }

  private takeCode(line: string): void {
    const under = `${this.heading}\n${this.lead}`;
    const shown = this.prompted;
    this.prompted = /^[$❯] \S/.test(line) ? line.slice(2) : null;
    if (shown !== null && this.prompted === null && line !== '')
      this.blocks.push({ text: `\`${shown}\` →`, under, list: null });
    const outcome = OUTCOME.exec(this.prompted ?? line);
    if (outcome !== null) {
      this.prompted = null;
      this.blocks.push({ text: `\`${outcome[1]}\` ✓ ${outcome[2]}`, under, list: null });
    } else if (line !== '') this.code.push(line);
  }

  /** Code in which all lines begin with a path is a list of files. */
  private endCode(): void {
    const listed = this.code.map((line) => LISTED.exec(line.replace(BRANCH, '')));
    this.fence = null;
    this.code = [];
    if (listed.length === 0 || listed.includes(null)) return;
    this.list += 1;
    const under = `${this.heading}\n${this.lead}`;
    for (const item of listed)
      this.blocks.push({ text: `\`${item?.[1]}\` ${item?.[2] ?? ''}`, under, list: this.list });
  }

  private takeText(line: string, { isIndented }: { readonly isIndented: boolean }): void {
    const heading = HEADING.exec(line);
    if (heading !== null) {
      this.end();
      [this.heading, this.lead] = [heading[1] ?? heading[2] ?? '', ''];
      this.begin(this.heading, { isItem: false });
      this.end({ list: HEADINGS });
    } else if (UNTICKED.test(line)) this.end();
    else if (line.startsWith('|')) {
      this.begin(line.replace(/^\||\|$/g, '').replace(/(?<!\\)\|/g, CELL), { isItem: true });
    } else if (ITEM.test(line)) this.begin(line.replace(ITEM, ''), { isItem: true });
    else if (PATHS_FIRST.test(line)) this.begin(line, { isItem: true });
    else if (this.lines.length > 0) this.lines.push(line);
    else {
      if (!isIndented) this.lead = '';
      this.begin(line, { isItem: false });
    }
  }

  private begin(line: string, { isItem }: { readonly isItem: boolean }): void {
    this.end();
    if (!isItem) this.list += 1;
    this.isItem = isItem;
    this.lines = [line];
  }

  end({ list = this.isItem ? this.list : null }: { readonly list?: number | null } = {}): void {
    if (this.lines.length === 0) return;
    const text = this.lines.join(' ').slice(0, LONGEST_BLOCK);
    this.lines = [];
    this.blocks.push({
      text,
      under: list === HEADINGS ? '' : `${this.heading}\n${this.lead}`,
      list,
    });
    if (/:[*_]*$/.test(text)) this.lead = text.slice(-200);
  }
}
