import type { JsonMember, JsonNode } from './json-tree.ts';

/** The layout of printed JSON. */
export interface PrintOptions {
  /** The number of spaces for each level; 0 puts everything on one line without spaces. */
  readonly indent: number;
  /** Whether members are sorted by name. */
  readonly sorted: boolean;
  /**
   * The most UTF-16 units that are printed. In deep lists, indentation can take a thousand times the space of the
   * values.
   */
  readonly max: number;
}

/** The result of printing JSON. */
export interface PrintedJson {
  /** The complete text, or its beginning. */
  readonly text: string;
  readonly isComplete: boolean;
  /** The number of lines of the complete text. */
  readonly lines: number;
}

/** Prints a tree as JSON with its scalars as they were written. */
export function printJsonTree(node: JsonNode, options: PrintOptions): PrintedJson {
  return new Printer(options).print(node);
}

class Printer {
  private readonly pieces: string[] = [];
  private readonly options: PrintOptions;
  private length = 0;
  private lines = 1;

  constructor(options: PrintOptions) {
    this.options = options;
  }

  print(node: JsonNode): PrintedJson {
    this.node(node, 0);
    return { text: this.pieces.join(''), isComplete: !this.isFull, lines: this.lines };
  }

  private get isFull(): boolean {
    return this.length > this.options.max;
  }

  private node(node: JsonNode, level: number): void {
    switch (node.kind) {
      case 'scalar':
        return this.write(node.raw);
      case 'array':
        return this.block('[', ']', node.items, level, (item) => this.node(item, level + 1));
      case 'object': {
        const members = this.options.sorted ? node.members.toSorted(byName) : node.members;
        const colon = this.options.indent === 0 ? ':' : ': ';
        return this.block('{', '}', members, level, ({ raw, value }) => {
          this.write(raw);
          this.write(colon);
          this.node(value, level + 1);
        });
      }
    }
  }

  private block<T>(
    open: string,
    close: string,
    parts: readonly T[],
    level: number,
    print: (part: T) => void,
  ): void {
    this.write(open);
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.write(',');
      this.newLine(level + 1);
      print(part);
    }
    if (parts.length > 0) this.newLine(level);
    this.write(close);
  }

  private newLine(level: number): void {
    const { indent } = this.options;
    if (indent === 0) return;
    this.lines += 1;
    if (!this.isFull) this.write(`\n${' '.repeat(indent * level)}`);
  }

  private write(piece: string): void {
    this.length += piece.length;
    if (!this.isFull) this.pieces.push(piece);
  }
}

function byName(a: JsonMember, b: JsonMember): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}
