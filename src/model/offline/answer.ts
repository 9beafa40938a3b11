import { placeLines, type ShownPlace } from '../../base/code/place-lines.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { LIMITS, NOTHING_BELOW, SHOWN_PLACES, WEAK_BELOW } from './answer-words.ts';
import type { Evidence } from './evidence.ts';
import { failureNote } from './failure-note.ts';
import { oneLine, quote } from './quote.ts';
import type { Intent } from './intent.ts';
import { bestPlace, type Place } from './place.ts';
import { isFirm, matchesAny, nameWords, rankFiles, termRarities, type RankedFile } from './rank.ts';
import type { Situation } from './situation.ts';
import type { Term } from './terms.ts';
import { MAX_TOPICS } from './topics.ts';

/** Files whose lines are compared for the answer. */
const COMPARED = 12;
const PLACE_WEIGHT = 0.8;

/** The three best places, or plainly that there are none. */
export function answerFromSearch(intent: Intent, evidence: Evidence): string {
  const ranked = rankFiles(intent.query, evidence, intent);
  const found = bestPlaces(ranked, intent, evidence);
  const coverage = Math.max(0, ...found.map(({ file }) => file.coverage));
  const parts: string[] = [];
  if (intent.beyond !== null) parts.push(LIMITS[intent.beyond]);
  if (found.length === 0 || coverage < NOTHING_BELOW) {
    parts.push(nothingFound(intent, evidence));
  } else {
    if (coverage < WEAK_BELOW) parts.push('Nothing fits well. The nearest:');
    parts.push(placeLines(found.map(shownPlace)));
  }
  if (evidence.failures.length > 0) parts.push(failureNote(evidence.failures));
  return parts.join('\n\n');
}

/** What subagents found, with several a heading over each. Null when none was asked or all failed. */
export function answerFromChildren(topics: readonly string[], situation: Situation): string | null {
  const outcomes = situation.rounds.flat().filter(({ call }) => call.name === 'Task');
  if (outcomes.every(({ result }) => result === null || result.isError)) return null;
  const parts = outcomes.map(({ call, result }, index) => {
    const text = result === null ? 'No result came back.' : withoutFacts(result.text);
    const answer = result?.isError === true ? `Not answered: ${text}` : text;
    if (outcomes.length === 1) return answer;
    const title = topics.length === outcomes.length ? topics[index] : typeOf(call);
    return `## ${oneLine(title ?? `Topic ${index + 1}`)}\n\n${answer}`;
  });
  const left = topics.slice(MAX_TOPICS);
  if (left.length > 0) {
    parts.push(
      `Not searched (at most ${MAX_TOPICS} topics at once): ${left.map(oneLine).join('; ')}`,
    );
  }
  return parts.join('\n\n');
}

function typeOf({ input }: ToolCallPart): string | undefined {
  const type = isJsonObject(input) ? input['subagent_type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

interface FoundPlace {
  readonly file: RankedFile;
  readonly place: Place | null;
  readonly terms: readonly Term[];
  readonly score: number;
}

function bestPlaces(
  ranked: readonly RankedFile[],
  intent: Intent,
  evidence: Evidence,
): readonly FoundPlace[] {
  const rarities = termRarities(intent.query, evidence);
  return ranked
    .slice(0, COMPARED)
    .map((file) => {
      const place = bestPlace(file.path, intent.query, evidence, rarities);
      const share = file.score === 0 ? 0 : (place?.score ?? 0) * PLACE_WEIGHT;
      return { file, place, terms: intent.query.terms, score: file.score + share };
    })
    .toSorted((a, b) => b.score - a.score)
    .slice(0, SHOWN_PLACES);
}

function shownPlace({ file, place, terms }: FoundPlace): ShownPlace {
  const text = place?.text ?? '';
  return {
    path: file.path,
    line: place?.line ?? 1,
    reason: reason(file, place, terms),
    quote: text.trim() === '' ? null : quote(text),
  };
}

function reason(file: RankedFile, place: Place | null, terms: readonly Term[]): string {
  const words = nameWords(file.path);
  const inPath = labels(terms.filter((term) => isFirm(term) && matchesAny(term, words)));
  const inLine = labels(place?.matched.filter(isFirm) ?? []);
  const parts: string[] = [];
  const name = place?.name ?? null;
  if (name !== null) parts.push(`defines \`${name}\``);
  if (inLine.length > 0) {
    const close = inLine.length > 1 ? ' close together' : '';
    parts.push(`${name === null ? 'has' : 'with'} ${inLine.join(', ')}${close}`);
  }
  if (inPath.length > 0) parts.push(`${inPath.join(', ')} in its path`);
  if (parts.length === 0) parts.push('holds related words');
  const kind = file.kind === 'source' ? '' : ` (${file.kind})`;
  return `${parts.join(', ')}${kind}.`;
}

/** Where a whole identifier matches, its parts need no mention. */
function labels(terms: readonly Term[]): readonly string[] {
  const hasName = terms.some((term) => term.kind === 'identifier');
  const shown = hasName ? terms.filter((term) => term.weight >= 1) : terms;
  return [...new Set(shown.map((term) => `“${term.label}”`))].slice(0, 4);
}

function nothingFound({ query }: Intent, evidence: Evidence): string {
  const absent = query.terms
    .filter((term) => isFirm(term) && evidence.counts.get(term.pattern)?.size === 0)
    .map((term) => `“${term.label}”`);
  if (evidence.files.size === 0 && evidence.failures.length === 0) {
    return 'Nothing found: there are no files to search here.';
  }
  if (evidence.counts.size === 0 && evidence.failures.length === 0) {
    return 'Nothing found among the names of files. What they hold was not searched: that takes Grep.';
  }
  const why =
    absent.length === 0
      ? ''
      : ` ${absent.slice(0, 6).join(', ')} ${absent.length === 1 ? 'stands' : 'stand'} in no file.`;
  return `Nothing found that fits.${why} Another word, or the name of a symbol or file, may help.`;
}

/** Removes Muster's own lines at the end of a child's result: they are for the model, not for the answer. */
function withoutFacts(text: string): string {
  const ownLines =
    /(?:\n*\[The (?:task|last|log) [^\n]*\])?\n*\[task [a-z0-9]{8,32} · [^\n]*\]\s*$/;
  return text.replace(ownLines, '').trim();
}
