import { words } from './words.ts';

export interface Document {
  readonly id: string;
  readonly text: string;
}

/** The documents in the order in which they were added. */
export class Documents {
  private list: Document[] = [];

  /** Adds a document. One with the same id is replaced, and the new one stands at the end. */
  add(id: string, text: string): void {
    this.remove(id);
    this.list = [...this.list, { id, text }];
  }

  /** Returns false if there is no such document. */
  remove(id: string): boolean {
    const before = this.list.length;
    this.list = this.list.filter((document) => document.id !== id);
    return this.list.length < before;
  }

  find(id: string): Document | undefined {
    return this.list.find((document) => document.id === id);
  }

  all(): Document[] {
    return [...this.list];
  }

  /** How often a word occurs in each document, without those in which it does not occur. */
  counts(word: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { id, text } of this.list) {
      const count = words(text).filter((each) => each === word).length;
      if (count > 0) counts.set(id, count);
    }
    return counts;
  }

  /** All different words, sorted. */
  vocabulary(): string[] {
    const all: string[] = [];
    for (const { text } of this.list) {
      for (const word of words(text)) if (!all.includes(word)) all.push(word);
    }
    return all.sort();
  }
}
