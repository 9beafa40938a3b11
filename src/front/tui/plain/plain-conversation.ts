import { formatDuration, plural } from '../../../base/text.ts';
import { plainLines, type Pen } from '../view/pen.ts';
import type { Block, CallBlock, CallState } from '../model/block.ts';
import type { Transcript } from '../model/transcript.ts';

/** A call that took this long is told of when it ends, too. */
const LONG_CALL_MS = 5_000;

/**
 * A conversation as lines that are added, each once: an answer as far as its lines are whole, a call when it
 * begins, and when it ends otherwise than at once and well.
 */
export class PlainConversation {
  private readonly pen: Pen;
  private nextKey = 0;
  /** Calls whose end is to come, by key, with what was told of them. */
  private readonly open = new Map<number, CallState>();
  /** What was told of the answer that is being written. */
  private spoken = '';
  /** What was typed here needs no telling. */
  private readonly typed: string[] = [];

  constructor(pen: Pen) {
    this.pen = pen;
  }

  /** A person has typed this. */
  heard(text: string): void {
    this.typed.push(text);
  }

  /** What there is to tell since the last time. */
  news(transcript: Transcript): readonly string[] {
    const { blocks, nextKey } = transcript;
    const lines = this.callNews(blocks);
    const first = blocks.findLastIndex(({ key }) => key < this.nextKey) + 1;
    for (const block of blocks.slice(first)) lines.push(...this.blockNews(block));
    this.nextKey = nextKey;
    lines.push(...this.streamNews(transcript.stream.text));
    return lines;
  }

  private callNews(blocks: readonly Block[]): string[] {
    const lines: string[] = [];
    for (const [key, told] of this.open) {
      const block = blocks.findLast((each) => each.key === key);
      if (block?.kind !== 'call') this.open.delete(key);
      else if (block.state !== told) lines.push(...this.tellCall(block));
    }
    return lines;
  }

  private blockNews(block: Block): readonly string[] {
    const { pen } = this;
    switch (block.kind) {
      case 'said':
        return this.saidNews(block.text);
      case 'answer':
        return this.answerNews(block.text);
      case 'thinking':
        return [];
      case 'call':
        return this.tellCall(block);
      case 'note':
        return [pen.prose('text', `${NOTE_WORDS[block.level]}${block.text}`)];
      case 'ended':
        return [
          pen.prose(
            'text',
            `It ${block.status}${block.because === null ? '' : `: ${block.because}`}`,
          ),
        ];
      // Told when it has ended, with what it printed.
      case 'shell':
        return [];
      case 'page':
        return [
          pen.prose('text', block.title),
          ...block.lines.map((line) => `  ${pen.exact('text', line)}`),
        ];
      default:
        return block satisfies never;
    }
  }

  private saidNews(text: string): readonly string[] {
    const at = this.typed.indexOf(text);
    if (at === -1) return indented('You: ', text);
    this.typed.splice(0, at + 1);
    return [];
  }

  private answerNews(text: string): readonly string[] {
    const rest = text.startsWith(this.spoken) ? text.slice(this.spoken.length) : text;
    this.spoken = '';
    return rest.trim() === '' ? [] : plainLines(rest.trimEnd()).split('\n');
  }

  /** The lines of it that are whole. */
  private streamNews(text: string): readonly string[] {
    if (text === '') return [];
    // It was asked anew, or is longer than what is kept: told again whole, at its end.
    if (!text.startsWith(this.spoken)) return [];
    const end = text.lastIndexOf('\n') + 1;
    const more = text.slice(this.spoken.length, end);
    if (more === '') return [];
    this.spoken = text.slice(0, end);
    return plainLines(more.slice(0, -1)).split('\n');
  }

  private tellCall(call: CallBlock & { readonly key: number }): readonly string[] {
    const isOver = call.state !== 'made' && call.state !== 'running';
    const wasTold = this.open.get(call.key) === 'running';
    if (isOver) this.open.delete(call.key);
    else this.open.set(call.key, call.state);
    // The tree tells of the tasks that it makes.
    const isTask = call.tool === 'Task' && call.state !== 'refused';
    if (call.state === 'made' || isTask) return [];
    const name = `${call.tool}${call.subject === '' ? '' : `: ${call.subject}`}`;
    if (!isOver) return [this.pen.exact('text', name)];
    const isBrief = call.state === 'done' && (call.ms ?? 0) < LONG_CALL_MS;
    if (isBrief) return wasTold ? [] : [this.pen.exact('text', name)];
    return [this.pen.exact('text', `${endWords(call)}: ${name}`), ...this.why(call)];
  }

  private why({ state, output }: CallBlock): readonly string[] {
    if (state === 'done') return [];
    const [first = ''] = output.trimStart().split('\n', 1);
    return [`  ${this.pen.prose('text', first)}`];
  }
}

const NOTE_WORDS = { info: '', warning: 'Warning: ', error: 'Error: ' } as const;

const END_WORDS: Readonly<Partial<Record<CallState, string>>> = {
  failed: 'Failed',
  stopped: 'Stopped',
  refused: 'Refused',
};

function endWords({ state, ms, outputLines }: CallBlock): string {
  const word = END_WORDS[state];
  if (word !== undefined) return word;
  return `Done after ${formatDuration(ms ?? 0)}, ${plural(outputLines, 'line')}`;
}

function indented(head: string, text: string): readonly string[] {
  return plainLines(text)
    .split('\n')
    .map((line, index) => (index === 0 ? `${head}${line}` : `  ${line}`));
}
