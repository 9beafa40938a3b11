import { placeLines, type ShownPlace } from '../../base/code/place-lines.ts';
import { WEAK_WORDS } from '../../base/code/vocabulary.ts';
import { truncate } from '../../base/text.ts';
import { splitIdentifier } from '../../base/words.ts';
import { LIMITS, NOTHING_BELOW, SHOWN_PLACES, WEAK_BELOW } from './answer-words.ts';
import type { Evidence } from './evidence.ts';
import { failureNote } from './failure-note.ts';
import type { FoundPlace, FoundPlaces } from './found-places.ts';
import type { Intent } from './intent.ts';
import { oneLine, quote } from './quote.ts';

const SHOWN_WORDS = 4;
const SHOWN_ABSENT = 6;

/** The places that are worth a look: what holds next to nothing of the question is none. */
export function tellingPlaces({ places }: FoundPlaces): readonly FoundPlace[] {
  return places.filter(({ coverage }) => coverage >= NOTHING_BELOW).slice(0, SHOWN_PLACES);
}

/** The three best places, each with its line as Read showed it, or plainly that there are none. */
export function answerFromPlaces(intent: Intent, found: FoundPlaces, evidence: Evidence): string {
  const places = tellingPlaces(found);
  const coverage = Math.max(0, ...places.map((place) => place.coverage));
  const parts: string[] = [];
  if (intent.beyond !== null) parts.push(LIMITS[intent.beyond]);
  if (places.length === 0) {
    parts.push(nothingFound(found));
  } else {
    if (coverage < WEAK_BELOW) parts.push('Nothing fits well. The nearest:');
    parts.push(placeLines(places.map((place) => shown(place, evidence))));
    const absent = found.absent.filter((word) => !WEAK_WORDS.has(word));
    if (absent.length > 0) parts.push(inNoFile(absent));
  }
  if (found.cut)
    parts.push('There are more files than one search goes through: not all were searched.');
  if (evidence.failures.length > 0) parts.push(failureNote(evidence.failures));
  return parts.join('\n\n');
}

function shown(place: FoundPlace, evidence: Evidence): ShownPlace {
  const { path } = place;
  const line = place.line ?? 1;
  const text = evidence.lines.get(path)?.get(line) ?? '';
  return {
    path,
    line,
    reason: reasonFor(place),
    quote: text.trim() === '' ? null : quote(text),
  };
}

function reasonFor({ line, name, isDefinition, kind, ...found }: FoundPlace): string {
  const [matched, inPath] = [telling(found.matched), telling(found.inPath)];
  const parts: string[] = [];
  if (name !== null) parts.push(`${isDefinition ? 'defines' : 'in'} \`${name}\``);
  if (matched.length > 0) {
    const close = matched.length > 1 ? ' close together' : '';
    parts.push(`${name === null ? 'has' : 'with'} ${words(matched)}${close}`);
  }
  if (inPath.length > 0) parts.push(`${words(inPath)} in its path`);
  // Without a line: further along one than is looked at.
  if (parts.length === 0) parts.push(`holds ${line === null ? 'asked-for' : 'related'} words`);
  return `${parts.join(', ')}${kind === 'source' ? '' : ` (${kind})`}.`;
}

/** Where a whole name matches, its parts need no mention. */
function telling(labels: readonly string[]): readonly string[] {
  const names = labels.map(splitIdentifier).filter((parts) => parts.length > 1);
  const parts = new Set(names.flat());
  return labels.filter((label) => !parts.has(label));
}

function words(labels: readonly string[]): string {
  return labels
    .slice(0, SHOWN_WORDS)
    .map((label) => `“${oneLine(label)}”`)
    .join(', ');
}

function nothingFound({ files, absent }: FoundPlaces): string {
  if (files === 0) return 'Nothing found: there are no files to search here.';
  const why = absent.length === 0 ? '' : ` ${inNoFile(absent)}`;
  return `Nothing found that fits.${why} Another word, or the name of a symbol or file, may help.`;
}

/** Beside places, too: who reads them should know which words of the question did not count. */
function inNoFile(absent: readonly string[]): string {
  const named = telling(absent)
    .slice(0, SHOWN_ABSENT)
    .map((label) => `“${truncate(oneLine(label), 60)}”`);
  return `${named.join(', ')} ${named.length === 1 ? 'stands' : 'stand'} in no file.`;
}
