import { isPlainText } from './mention-word.ts';
import { rankFiles } from './rank-files.ts';

/** After so long the directory is looked at again. */
const FRESH_MS = 10_000;

interface Listing {
  readonly at: number;
  readonly paths: Promise<readonly string[]>;
}

/** The files that can be named: listed when the first is asked for, and nobody waits for it but who asks. */
export class ProjectFiles {
  private readonly list: (signal: AbortSignal) => Promise<readonly string[]>;
  private readonly now: () => number;
  private readonly stopped = new AbortController();
  private listing: Listing | null = null;

  constructor(
    list: (signal: AbortSignal) => Promise<readonly string[]>,
    { now }: { readonly now: () => number },
  ) {
    this.list = list;
    this.now = now;
  }

  /** Never rejects: a directory that can't be listed has none to offer. */
  async find(typed: string): Promise<readonly string[]> {
    return rankFiles(await this.paths(), typed);
  }

  stop(): void {
    this.stopped.abort();
  }

  private paths(): Promise<readonly string[]> {
    const { listing } = this;
    if (listing !== null && this.now() - listing.at < FRESH_MS) return listing.paths;
    const paths = this.list(this.stopped.signal).then(
      (found) => found.filter(isPlainText),
      // Gone, or not to be looked into: what is typed is text all the same.
      () => [],
    );
    this.listing = { at: this.now(), paths };
    return paths;
  }
}
