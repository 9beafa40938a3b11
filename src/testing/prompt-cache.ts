import { hash } from 'node:crypto';
import { byteLength } from '../base/text.ts';
import type { Usage } from '../protocol/model.ts';
import { estimateTokenCount } from './prepare-answer.ts';
import type { PromptBlock, WireCodec } from './wire/codec.ts';

/** The options of a simulated prompt cache. */
export interface PromptCacheOptions {
  /** The minimum length of a cached prefix. Default: 1,024 tokens, as at the large providers. */
  readonly minTokens?: number;
}

/** The result of looking up a prompt in the cache. */
export interface CacheLookup {
  readonly usage: Pick<Usage, 'input' | 'cacheRead' | 'cacheWrite'>;
  /** Adds the prompt to the cache for later requests. Call it at the first byte of the answer. */
  commit(): void;
}

const DEFAULT_MIN_TOKENS = 1024;
/** The number of blocks, up to and including a breakpoint, in which Anthropic looks for an earlier entry. */
const LOOKBACK_BLOCKS = 20;
/** The step in tokens in which OpenAI caches prefixes. */
const STEP_TOKENS = 128;

/** The end of a block in the prompt, with a hash and the number of tokens of everything up to this end. */
interface Boundary {
  readonly key: string;
  readonly tokens: number;
  readonly breakpoint: boolean;
}

/**
 * Simulates the prompt cache of a provider. It finds the longest prefix of tools, system prompt and messages that an
 * earlier request for the same model has sent. Entries never expire.
 */
export class PromptCache {
  private readonly entries = new Set<string>();
  private readonly minTokens: number;

  constructor(options: PromptCacheOptions = {}) {
    this.minTokens = options.minTokens ?? DEFAULT_MIN_TOKENS;
  }

  lookup(model: string, blocks: readonly PromptBlock[], cache: WireCodec['cache']): CacheLookup {
    const boundaries = findBoundaries(model, blocks);
    return cache === 'breakpoints'
      ? this.lookUpMarked(boundaries)
      : this.lookUpAutomatic(boundaries);
  }

  /** Looks up a prompt as Anthropic does: only prefixes that end with a breakpoint are cached. */
  private lookUpMarked(boundaries: readonly Boundary[]): CacheLookup {
    const writable = boundaries.filter((at) => at.breakpoint && at.tokens >= this.minTokens);
    const readable = boundaries.filter((_, index) =>
      boundaries.slice(index, index + LOOKBACK_BLOCKS).some((later) => later.breakpoint),
    );
    const read = this.findLongestHit(readable);
    const written = Math.max(read, writable.at(-1)?.tokens ?? 0);
    return {
      usage: {
        cacheRead: read,
        cacheWrite: written - read,
        input: countTotalTokens(boundaries) - written,
      },
      commit: () => this.add(writable),
    };
  }

  /** Looks up a prompt as the other providers do: every prefix is cached. */
  private lookUpAutomatic(boundaries: readonly Boundary[]): CacheLookup {
    const hit = this.findLongestHit(boundaries);
    const read = hit < this.minTokens ? 0 : hit - (hit % STEP_TOKENS);
    return {
      usage: { cacheRead: read, cacheWrite: 0, input: countTotalTokens(boundaries) - read },
      commit: () => this.add(boundaries),
    };
  }

  private findLongestHit(boundaries: readonly Boundary[]): number {
    return boundaries.findLast((at) => this.entries.has(at.key))?.tokens ?? 0;
  }

  private add(boundaries: readonly Boundary[]): void {
    for (const at of boundaries) this.entries.add(at.key);
  }
}

function findBoundaries(model: string, blocks: readonly PromptBlock[]): readonly Boundary[] {
  let key = model;
  let bytes = 0;
  return blocks.map((block) => {
    key = hash('sha1', `${key}\0${block.section}\0${block.text}`, 'base64');
    bytes += byteLength(block.text);
    return { key, tokens: estimateTokenCount(bytes), breakpoint: block.breakpoint };
  });
}

function countTotalTokens(boundaries: readonly Boundary[]): number {
  return boundaries.at(-1)?.tokens ?? 0;
}
