import { terminalText } from '../../../base/terminal-text.ts';
import type { Block } from './block.ts';
import type { DiffLine } from './text-diff.ts';

/** What an entry says, unfolded, as plain text: what a search looks through. */
export function entryText(block: Block): string {
  return terminalText(rawText(block), 'prose');
}

function rawText(block: Block): string {
  switch (block.kind) {
    case 'said':
    case 'answer':
    case 'thinking':
    case 'note':
      return block.text;
    case 'ended':
      return `${block.status}: ${block.because}`;
    case 'page':
      return [block.title, ...block.lines].join('\n');
    case 'call': {
      const changed = block.edits.flatMap(({ lines }) => lines.map(lineText));
      return [`${block.tool} ${block.subject}`, ...changed, block.output].join('\n');
    }
    case 'shell':
      return `!${block.command}\n${block.output}`;
    default:
      return block satisfies never;
  }
}

function lineText(line: DiffLine): string {
  return line.sign === '…' ? '' : line.text;
}
