import type { JsonObject } from '../../../base/json.ts';
import { byteLength } from '../../../base/text.ts';
import type { ProviderMeta } from '../../../protocol/message.ts';
import type { ProgressPart } from '../../../protocol/model.ts';
import type { Repair } from '../../../protocol/repair.ts';
import {
  BLOCK_BYTES,
  toThoughtTagsMeta,
  type AnswerBlock,
  type TextBlock,
} from './answer-blocks.ts';
import { ThinkingSplitter, type TaggedPiece } from './thinking-splitter.ts';

/** The functions of the answer builder to which the text blocks belong. */
interface AnswerOwner {
  /** All blocks of the answer in order. */
  readonly blocks: AnswerBlock[];
  /** Counts bytes of content. Throws AnswerTooLargeError if the answer exceeds the limit on its size. */
  countBytes(bytes: number): void;
  addMeta(before: ProviderMeta | undefined, meta: JsonObject | undefined): ProviderMeta | undefined;
  addProgress(part: ProgressPart): void;
  repair(kind: Repair): void;
}

/** Builds the text and reasoning blocks of an answer, and separates thoughts between tags from the text. */
export class TextBlocks {
  private readonly owner: AnswerOwner;
  /** The open blocks that have a key, by type and key. */
  private readonly open = new Map<string, TextBlock>();
  /** Finds thoughts in the text; null: no thought can follow. */
  private splitter: ThinkingSplitter | null = new ThinkingSplitter();
  /** The thoughts that were between tags in the text. */
  private readonly thoughts: TextBlock[] = [];

  constructor(owner: AnswerOwner) {
    this.owner = owner;
  }

  /** Appends to the open text block with this key; without a key, to the last block if it is text. Begins one if needed. */
  addText(piece: string, key?: string, meta?: JsonObject): void {
    const { splitter } = this;
    if (splitter === null || piece === '') return this.append('text', piece, key, meta);
    for (const tagged of splitter.take(piece)) this.appendTagged(tagged, key, meta);
    if (splitter.isDecided) this.endThinking();
  }

  /** Appends to the open reasoning block with this key; without a key, to the last block if it is reasoning. Begins one if needed. */
  addReasoning(piece: string, key?: string, meta?: JsonObject): void {
    // A server that sends reasoning has a parser for thinking tags, so tags in its text do not enclose thoughts.
    if (piece !== '') this.endThinking();
    this.append('reasoning', piece, key, meta);
  }

  openBlock(type: TextBlock['type'], key: string, meta?: JsonObject): void {
    this.begin(type, key, meta).isOpen = true;
  }

  closeBlock(type: TextBlock['type'], key: string, meta?: JsonObject): void {
    const block = this.open.get(`${type} ${key}`);
    if (block === undefined) return;
    block.meta = this.owner.addMeta(block.meta, meta);
    block.isOpen = false;
    this.open.delete(`${type} ${key}`);
  }

  /** Ends the search for thoughts. Tags in later text do not enclose thoughts. */
  endThinking(): void {
    const { splitter } = this;
    if (splitter === null) return;
    this.splitter = null;
    for (const tagged of splitter.end()) this.appendTagged(tagged, undefined, undefined);
    if (splitter.tags.length > 0) this.owner.repair('thinking_in_text');
    for (const [index, tags] of splitter.tags.entries()) {
      const thought = this.thoughts[index];
      if (thought !== undefined) thought.meta = { ...thought.meta, ...toThoughtTagsMeta(tags) };
    }
  }

  private append(
    type: TextBlock['type'],
    piece: string,
    key: string | undefined,
    meta: JsonObject | undefined,
  ): void {
    this.grow(this.findOrBegin(type, key), piece, meta);
  }

  private grow(block: TextBlock, piece: string, meta: JsonObject | undefined): void {
    this.owner.countBytes(byteLength(piece));
    block.text += piece;
    block.meta = this.owner.addMeta(block.meta, meta);
    if (piece !== '') this.owner.addProgress({ type: `${block.type}_delta`, text: piece });
  }

  private appendTagged(
    piece: TaggedPiece,
    key: string | undefined,
    meta: JsonObject | undefined,
  ): void {
    if (piece.type === 'text') return this.append('text', piece.text, key, meta);
    const block = this.thoughts[piece.thought] ?? this.beginThought(key);
    this.grow(block, piece.text, meta);
  }

  private findOrBegin(type: TextBlock['type'], key: string | undefined): TextBlock {
    if (key !== undefined) return this.open.get(`${type} ${key}`) ?? this.begin(type, key);
    const last = this.owner.blocks.at(-1);
    return last?.type === type ? last : this.begin(type, undefined);
  }

  private begin(type: TextBlock['type'], key: string | undefined, meta?: JsonObject): TextBlock {
    const block = this.create(type, meta);
    if (key !== undefined) this.open.set(`${type} ${key}`, block);
    this.owner.blocks.push(block);
    return block;
  }

  /** Begins a thought that was found in the text block with this key, and places the thought before that block. */
  private beginThought(key: string | undefined): TextBlock {
    const thought = this.create('reasoning');
    const { blocks } = this.owner;
    const text = key === undefined ? undefined : this.open.get(`text ${key}`);
    blocks.splice(text?.text === '' ? blocks.indexOf(text) : blocks.length, 0, thought);
    this.thoughts.push(thought);
    return thought;
  }

  private create(type: TextBlock['type'], meta?: JsonObject): TextBlock {
    this.owner.countBytes(BLOCK_BYTES);
    return { type, text: '', meta: this.owner.addMeta(undefined, meta), isOpen: false };
  }
}
