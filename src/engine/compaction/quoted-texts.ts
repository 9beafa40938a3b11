import { drawNonce, markOutside } from '../../protocol/outside-text.ts';

/** Bytes of all that one call hands over. */
export const MAX_TRANSFERRED_BYTES = 131_072;

/** Outside text that a task is handed. */
export interface Quoted {
  /** Muster's own words about it, escaped. */
  readonly label: string;
  readonly text: string;
  /** Muster's own words after it. */
  readonly note?: string;
}

/** What stands before the prompt of a task: each text in boundaries, with what it is. */
export function initialContextText(lead: string, quotes: readonly Quoted[]): string {
  const nonce = drawNonce(quotes.map(({ label, text }) => `${label}\n${text}`).join('\n'));
  const blocks = quotes.map(({ label, text, note = '' }) =>
    [label, markOutside(text, nonce), note].filter((part) => part !== '').join('\n'),
  );
  return `<notice>${lead}\n${blocks.join('\n\n')}\n</notice>`;
}
