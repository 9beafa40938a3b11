import { basename, dirname, normalize } from 'node:path/posix';
import { listCommands, type AcceptanceCriteria } from '../protocol/acceptance.ts';
import { isBelowSources, isPackageManifest, matcher } from './check-inputs.ts';
import { listPackageScripts } from './package-manifest.ts';

/** The maximum number of rounds in which files that scripts name are searched for further names. */
const MAX_ROUNDS = 5;
/** The maximum length of a text that is searched, in UTF-16 units. */
const MAX_SEARCHED = 200_000;

/** The files in which names of other files are found. */
export interface SearchedFiles {
  /** The paths of all files of the directory. */
  readonly paths: readonly string[];
  /** Returns the text of a file, or null if it is too long or no text. */
  read(path: string): string | null;
}

/** A text that may name files. */
interface NamingText {
  readonly text: string;
  /** The directory of the text, with `/` at its end; '' for the root. */
  readonly base: string;
  /**
   * The files that it may name as inputs of the checks. A command of the criteria: `all`. A command that scores the work
   * also names what it measures: `programs`. Other texts also name the work that they run: `others`.
   */
  readonly names: 'all' | 'programs' | 'others';
}

/** Files of task runners that commands run by these names. */
const RUNNERS: readonly (readonly [programs: string, file: RegExp])[] = [
  ['make|gmake', /^(?:GNUmakefile|[Mm]akefile(?:\.\w+)?|[^/]+\.mk)$/],
  ['just', /^[Jj]ustfile$/],
  ['task', /^Taskfile\.ya?ml$/],
  ['rake', /^[Rr]akefile$/],
  ['composer', /^composer\.json$/],
  ['deno', /^deno\.jsonc?$/],
  ['tox|nox', /^(?:tox\.ini|noxfile\.py)$/],
];

/** Returns true if a command line runs one of the programs, which are separated by `|`. */
function runsProgram(line: string, programs: string): boolean {
  return new RegExp(`(?:^|[\\s;&|(/])(?:${programs})(?=[\\s;&|)]|$)`).test(line);
}

/**
 * Finds the files that the command lines of criteria name, and those that the scripts which they run name in turn: by
 * their paths from the root or from the directory of the naming file, as modules, and as patterns. The sources that a
 * script runs or compiles are not among them, because they are the work, and neither are the data that a command scores.
 */
export function findNamedFiles(
  criteria: Pick<AcceptanceCriteria, 'commands' | 'score'>,
  files: SearchedFiles,
): ReadonlySet<string> {
  const { commands, score } = criteria;
  const paths = new Set(files.paths);
  const named = new Set<string>();
  let texts = [
    ...commands.map((text): NamingText => ({ text, base: '', names: 'all' })),
    ...(score === undefined ? [] : [{ text: score, base: '', names: 'programs' } as const]),
    ...listRunTexts(listCommands(criteria), files),
  ];
  for (let round = 0; round < MAX_ROUNDS && texts.length > 0; round += 1) {
    const found = new Set(texts.flatMap((text) => findNames(text, paths)));
    const fresh = [...found].filter((path) => !named.has(path));
    for (const path of fresh) named.add(path);
    texts = fresh.flatMap((path) => {
      const text = isCode(path) ? files.read(path) : null;
      return text === null ? [] : [{ text, base: toBase(path), names: 'others' }];
    });
  }
  return named;
}

/** Lists the scripts of packages and the files of task runners that command lines run. */
function listRunTexts(
  commands: readonly string[],
  { paths, read }: SearchedFiles,
): readonly NamingText[] {
  const manifests = paths.filter(isPackageManifest);
  const scripts = manifests.flatMap((path) =>
    [...listPackageScripts(read(path) ?? '')].map(([name, text]) => ({ name, text, path })),
  );
  const lines = [...commands];
  const used = new Set<(typeof scripts)[number]>();
  for (const line of lines) {
    const names = listScriptNames(line);
    for (const script of scripts) {
      if (used.has(script) || !names.has(script.name.replace(/^(?:pre|post)/, ''))) continue;
      used.add(script);
      lines.push(script.text);
    }
  }
  const runners = RUNNERS.flatMap(([programs, file]) =>
    lines.some((line) => runsProgram(line, programs))
      ? paths.filter((path) => file.test(basename(path)))
      : [],
  );
  const naming = [...used, ...runners.map((path) => ({ text: read(path) ?? '', path }))];
  return naming.map(({ text, path }) => ({ text, base: toBase(path), names: 'others' }));
}

/** Lists the names of the scripts that a command line runs with a package manager. */
function listScriptNames(line: string): ReadonlySet<string> {
  if (!/\b(?:npm|pnpm|yarn|bun|npx|turbo|nx|lerna|wireit|run-s|run-p|npm-run-all)\b/.test(line))
    return new Set();
  const words = line.split(/[\s'"`;|&()]+/);
  return new Set(words.flatMap((word) => (word === 't' ? ['test'] : [word])));
}

function toBase(path: string): string {
  const directory = dirname(path);
  return directory === '.' ? '' : `${directory}/`;
}

/** The endings that a program may add to the name of a file. */
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.py', '.sh', '/__main__.py'];
/** Sources of compiled languages. Files of task runners name them as the work that is built. */
const COMPILED = /\.(?:c|h|cc|cpp|cxx|hpp|rs|go|java|kt|kts|swift|cs|fs|scala|zig|o|a|s)$/;

/** Finds the files that a text names. */
function findNames(
  { text, base, names }: NamingText,
  paths: ReadonlySet<string>,
): readonly string[] {
  const searched = text.slice(0, MAX_SEARCHED);
  const changes = searched.matchAll(/\b(?:cd|--prefix|--dir|-C)[ =]+(["']?)([\w./-]+)\1/g);
  const bases = new Set(['', base, ...[...changes].map(([, , path = '']) => `${base}${path}/`)]);
  const modules = [...searched.matchAll(/-m[ "',]+([\w.]+)/g)];
  const words = new Set([
    ...searched.split(/[\s'"`;|&()<>=,{}\]$]+/),
    ...modules.map(([, name = '']) => name.replaceAll('.', '/')),
  ]);
  return [...words].flatMap((word) => {
    const path = word.replace(/^\/+/, '').replace(/[:.]+$/, '');
    if (!/[\w]/.test(path) || path.startsWith('-')) return [];
    return [...bases].flatMap((from) => {
      const full = normalize(`${from}${path}`);
      if (full.startsWith('../')) return [];
      const isPattern = /[*?[]/.test(full);
      const found = isPattern
        ? [...paths].filter(matcher([`/${full}`]))
        : ENDINGS.map((ending) => full + ending).filter((each) => paths.has(each));
      if (names === 'all' && !isPattern) return found;
      return found.filter(
        (each) =>
          !isBelowSources(each) &&
          !COMPILED.test(each) &&
          (names !== 'programs' || isCode(basename(each))),
      );
    });
  });
}

/** Returns true for a file whose text may name other files that it needs. */
function isCode(path: string): boolean {
  return /\.(?:sh|bash|zsh|mk|[mc]?[jt]s|py|rb|pl)$|^[^.]*$/.test(basename(path));
}
