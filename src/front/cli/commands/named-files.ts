import type { Enclosed, MessageQuoteRequest } from '../../../api/session/contract.ts';
import type { Muster } from '../../../api/index.ts';
import { stderrNotice } from '../stderr.ts';

/**
 * The files that a prompt names with `@`, to go along with it, as in the terminal UI; what can't is told on
 * stderr, and the prompt is said without it. An empty object where nothing goes along.
 */
export async function withNamedFiles(
  muster: Pick<Muster, 'enclose'>,
  words: string | null,
  whom: Pick<MessageQuoteRequest, 'to' | 'agent' | 'signal'>,
): Promise<{ readonly enclosed?: Enclosed }> {
  if (words === null || !words.includes('@')) return {};
  const enclosed = await muster.enclose({ ...whom, words, outputs: [], images: [] });
  for (const problem of enclosed.problems) stderrNotice(problem);
  return enclosed.enclosures.length === 0 ? {} : { enclosed };
}
