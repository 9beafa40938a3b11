import { definedName } from '../../base/code/definition.ts';
import { enclosingName } from '../../base/code/enclosing.ts';
import { fileKind } from '../../base/code/file-kind.ts';
import { plural, truncate } from '../../base/text.ts';
import { CONFIGURE } from './answer-words.ts';
import type { ChangedFile, ChangedPlace } from './changes.ts';
import type { FoundChanges } from './changes-plan.ts';
import type { Evidence } from './evidence.ts';
import { oneLine, quote } from './quote.ts';

const SHOWN_FILES = 30;
const SHOWN_PLACES = 8;
const SHOWN_UNTRACKED = 10;

const SAID = `The offline engine lists what changed: whether it is right it cannot judge. ${CONFIGURE}`;

export const NO_GIT = `${SAID}\n\nWhat changed is told by git through Bash, and this agent has no Bash. Name a file for its outline.`;

/** The changed places, file by file, each with what it stands in; what it cannot tell it says. */
export function answerWithChanges(changes: FoundChanges, evidence: Evidence): string {
  if (changes.failure !== null) {
    return `${SAID}\n\nWhat changed is not known: ${whyUnknown(changes.failure)} Name a file for its outline.`;
  }
  const { files, untracked } = changes;
  if (files.length + untracked.length === 0) return `${SAID}\n\nGit knows of no change here.`;
  const parts = [SAID, headline(changes)];
  parts.push(...files.slice(0, SHOWN_FILES).map((file) => fileLines(file, evidence)));
  if (files.length > SHOWN_FILES) parts.push(`… and ${files.length - SHOWN_FILES} more files.`);
  if (untracked.length > 0) parts.push(`New, and not known to git: ${listed(untracked)}.`);
  if (changes.cut) parts.push('Git told more than one call returns: there are more changes.');
  parts.push(aboutTests([...files.map(({ path }) => path), ...untracked]));
  return parts.join('\n\n');
}

function whyUnknown(failure: string): string {
  // The sandbox may hide what lies above.
  if (/not a git repository .*up to mount point/.test(failure)) {
    return 'Bash sees no git repository here; if it begins further up, ask from there.';
  }
  if (/not a git repository/.test(failure)) return 'this directory is in no git repository.';
  if (/argument 'HEAD'|bad revision 'HEAD'/.test(failure)) return 'there is no commit yet.';
  return `git said: ${truncate(oneLine(failure), 200)}.`;
}

function headline({ files, commit }: FoundChanges): string {
  const places = files.flatMap((file) => file.places);
  const lines = `+${sum(places, 'added')} −${sum(places, 'removed')} lines in ${plural(files.length, 'file')}`;
  if (commit === null) return `Not committed: ${lines}.`;
  if (commit === 'HEAD') return `The last commit: ${lines}.`;
  return `Commit ${commit}: ${lines}.`;
}

function fileLines({ path, places }: ChangedFile, evidence: Evidence): string {
  const shown = places.slice(0, SHOWN_PLACES).map((place) => placeLine(path, place, evidence));
  const more = places.length - shown.length;
  const note = places.length === 0 ? ['- no lines: its name, its mode, or a binary file'] : [];
  return [
    `\`${path}\` (+${sum(places, 'added')} −${sum(places, 'removed')}):`,
    ...note,
    ...shown,
    ...(more > 0 ? [`- … and ${more} more places`] : []),
  ].join('\n');
}

function placeLine(path: string, place: ChangedPlace, evidence: Evidence): string {
  const { added, removed } = place;
  const signs = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''];
  const seen = evidence.lines.get(path);
  const [line, text] = firstTelling(seen, place) ?? [place.line, ''];
  const name =
    seen?.has(line) === true
      ? enclosingName((at) => seen.get(at) ?? '', line)
      : definedName(place.within);
  const within = name === null ? '' : ` in \`${name}\``;
  const shown = text === '' ? '' : `: ${quote(text)}`;
  return `- \`${path}:${line}\` ${signs.filter((sign) => sign !== '').join(' ')}${within}${shown}`;
}

/** The first of the lines that came and is not empty. */
function firstTelling(
  seen: ReadonlyMap<number, string> | undefined,
  { line, added }: ChangedPlace,
): readonly [number, string] | undefined {
  for (let at = line; at < line + added; at += 1) {
    const text = seen?.get(at);
    if (text !== undefined && text.trim() !== '') return [at, text];
  }
  return undefined;
}

/** A fact, no judgement. */
function aboutTests(paths: readonly string[]): string {
  const tests = paths.filter((path) => fileKind(path) === 'test');
  const sources = paths.filter((path) => fileKind(path) === 'source');
  if (sources.length === 0 || tests.length > 0) {
    return `Of these files ${tests.length} ${tests.length === 1 ? 'is a test' : 'are tests'}.`;
  }
  return 'None of these files is a test.';
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN_UNTRACKED).map((path) => `\`${path}\``);
  const more = paths.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function sum(places: readonly ChangedPlace[], what: 'added' | 'removed'): number {
  return places.reduce((total, place) => total + place[what], 0);
}
