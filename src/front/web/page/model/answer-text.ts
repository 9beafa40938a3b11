import { LATER } from '../../wire.ts';

/**
 * Returns the text that answers a question of AskUser. The server takes the word of "not now" alone as such, and ignores
 * space around an answer, so a person can answer with this word as well.
 */
export function toTextAnswer(typed: string): string {
  return typed === LATER ? `${typed} ` : typed;
}
