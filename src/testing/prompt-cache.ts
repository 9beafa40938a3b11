import { hash } from 'node:crypto';
import { byteLength } from '../base/text.ts';
import type { Usage } from '../protocol/model.ts';
import { tokensOf } from './prepare-answer.ts';
import type { PromptBlock, WireCodec } from './wire/codec.ts';

export interface PromptCacheOptions {
  /** The length of the shortest prefix that is cached. Default: 1,024 tokens, as at the large providers. */
  readonly minTokens?: number;
}

export interface CacheLookup {
  readonly usage: Pick<Usage, 'input' | 'cacheRead' | 'cacheWrite'>;
  /** Makes the entries of this request readable for others. To be called at the first byte of its answer. */
  commit(): void;
}

const DEFAULT_MIN_TOKENS = 1024;
/** Anthropic looks back this many blocks from each breakpoint for an earlier entry. */
const LOOKBACK_BLOCKS = 20;
/** OpenAI caches in steps of this many tokens. */
const STEP_TOKENS = 128;

/** The end of a block in the prompt, with a hash and the number of tokens of all that comes before it. */
interface Boundary {
  readonly key: string;
  readonly tokens: number;
  readonly breakpoint: boolean;
}

/**
 * A model of a provider's prompt cache. It finds the longest prefix of tools, system prompt and messages that
 * an earlier request has sent. Entries never expire, and models share none.
 */
export class PromptCache {
  private readonly entries = new Set<string>();
  private readonly minTokens: number;

  constructor(options: PromptCacheOptions = {}) {
    this.minTokens = options.minTokens ?? DEFAULT_MIN_TOKENS;
  }

  lookup(model: string, blocks: readonly PromptBlock[], cache: WireCodec['cache']): CacheLookup {
    const boundaries = boundariesOf(model, blocks);
    return cache === 'breakpoints' ? this.marked(boundaries) : this.automatic(boundaries);
  }

  private marked(boundaries: readonly Boundary[]): CacheLookup {
    const writable = boundaries.filter((at) => at.breakpoint && at.tokens >= this.minTokens);
    const readable = boundaries.filter((_, index) =>
      boundaries.slice(index, index + LOOKBACK_BLOCKS).some((later) => later.breakpoint),
    );
    const read = this.longestHit(readable);
    const written = Math.max(read, writable.at(-1)?.tokens ?? 0);
    return {
      usage: { cacheRead: read, cacheWrite: written - read, input: total(boundaries) - written },
      commit: () => this.add(writable),
    };
  }

  private automatic(boundaries: readonly Boundary[]): CacheLookup {
    const hit = this.longestHit(boundaries);
    const read = hit < this.minTokens ? 0 : hit - (hit % STEP_TOKENS);
    return {
      usage: { cacheRead: read, cacheWrite: 0, input: total(boundaries) - read },
      commit: () => this.add(boundaries),
    };
  }

  private longestHit(boundaries: readonly Boundary[]): number {
    return boundaries.findLast((at) => this.entries.has(at.key))?.tokens ?? 0;
  }

  private add(boundaries: readonly Boundary[]): void {
    for (const at of boundaries) this.entries.add(at.key);
  }
}

function boundariesOf(model: string, blocks: readonly PromptBlock[]): readonly Boundary[] {
  let key = model;
  let bytes = 0;
  return blocks.map((block) => {
    key = hash('sha1', `${key}\0${block.section}\0${block.text}`, 'base64');
    bytes += byteLength(block.text);
    return { key, tokens: tokensOf(bytes), breakpoint: block.breakpoint };
  });
}

function total(boundaries: readonly Boundary[]): number {
  return boundaries.at(-1)?.tokens ?? 0;
}
