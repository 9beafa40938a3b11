import { mapByName } from '../name-table.ts';
import { readLeadingOptions } from '../options/leading-options.ts';
import { isOption } from '../options/option-table.ts';
import { createLiteralWord, type ShellParser, type ShellWord } from '../parsed-line.ts';
import {
  canBeOption,
  createOpenRun,
  listPossibleCommands,
  parseScriptRun,
  type InnerRunFinder,
  type InnerRun,
} from './inner-run.ts';

/** Matches settings whose value git runs as a command. */
const COMMAND_SETTING =
  /^(?:core\.(?:pager|editor|askpass|sshcommand|fsmonitor|gitproxy|alternaterefscommand)|sequence\.editor|pager\..+|diff\.external|diff\..+\.(?:command|textconv)|(?:difftool|mergetool|browser|man)\..+\.(?:cmd|path)|merge\..+\.driver|filter\..+\.(?:clean|smudge|process)|gpg\.(?:.+\.)?(?:program|defaultkeycommand)|credential\.(?:.+\.)?helper|interactive\.difffilter|remote\..+\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|sendemail\..*cmd|tar\..+\.command|trailer\..+\.(?:command|cmd))$/i;

/** Matches settings that make git run nothing, for example for its output and for the author of commits. */
const HARMLESS_SETTING =
  /^(?:color\..+|column\..+|advice\..+|user\.(?:name|email)|core\.(?:quotepath|autocrlf|abbrev|filemode|ignorecase)|log\..+|diff\.(?:renames|algorithm|context|noprefix|mnemonicprefix)|merge\.conflictstyle|init\.defaultbranch|pull\.(?:rebase|ff)|push\.default|rebase\.autosquash|commit\.gpgsign|tag\.gpgsign|rerere\.enabled|status\..+|grep\..+|blame\..+|advice\..+|gc\.auto|fetch\.prune)$/i;

/** The options whose values git runs, by subcommand. */
const EXECUTING_GIT_OPTIONS = mapByName<readonly string[]>({
  rebase: ['-x', '--exec'],
  difftool: ['-x', '--extcmd'],
  clone: ['-u', '--upload-pack'],
  'fetch, pull': ['--upload-pack'],
  'ls-remote, fetch-pack': ['--upload-pack', '--exec'],
  'push, send-pack': ['--receive-pack', '--exec'],
  archive: ['--exec'],
  grep: ['-O', '--open-files-in-pager'],
  'send-email': ['--smtp-server', '--sendmail-cmd', '--to-cmd', '--cc-cmd', '--header-cmd'],
  instaweb: ['--httpd', '--browser'],
  daemon: ['--access-hook'],
  'filter-branch': [
    '--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter',
    '--commit-filter --tag-name-filter',
  ].flatMap((names) => names.split(' ')),
});

/**
 * Finds the programs that options before and after git's subcommand name. `bisect run` and `submodule foreach` are in
 * the table of wrappers.
 */
export const findGitRuns: InnerRunFinder = (words, parser) => {
  const { options, end: at } = readLeadingOptions('git', words);
  const leading = options.flatMap(({ name, value, index }) => {
    if (name === '-c') return findSettingRuns(index, value, parser);
    if (name === '--config-env') return [createOpenRun(index)];
    return name === '--exec-path' && value !== null ? [createOpenRun(index)] : [];
  });
  const name = words[at]?.value;
  if (name === undefined) return leading;
  // After an unknown option or an unknown word, anything may run.
  if (name === null || isOption(name))
    return [...leading, createOpenRun(at, listPossibleCommands(words.slice(at)))];
  const rest = words
    .slice(at + 1)
    .flatMap((word, index) =>
      findRunsOfWord(name, { word, next: words[at + index + 2], at: at + 1 + index, parser }),
    );
  return [...leading, ...rest];
};

/** A word after the subcommand, with the next word. */
interface WordAfterSubcommand {
  readonly word: ShellWord;
  readonly next: ShellWord | undefined;
  readonly at: number;
  readonly parser: ShellParser;
}

function findRunsOfWord(
  name: string,
  { word, next, at, parser }: WordAfterSubcommand,
): readonly InnerRun[] {
  const { value } = word;
  const executing = EXECUTING_GIT_OPTIONS.get(name) ?? [];
  if (value === null) return executing.length > 0 && canBeOption(word) ? [createOpenRun(at)] : [];
  // In all positions where git accepts an address, an address of this form is a command.
  const helper = /^ext::(.*)$/s.exec(value)?.[1];
  if (helper !== undefined) return [parseScriptRun(at, [createLiteralWord(helper)], parser)];
  if (name === 'clone' && /^(?:-c.*|--config(?:=.*)?|--templ[ate]*(?:=.*)?)$/s.test(value)) {
    return findSettingRuns(at, findCloneSetting(value) ?? next ?? null, parser);
  }
  if (name === 'for-each-repo' && value === '--') return [createOpenRun(at)];
  const optionValue = executing
    .map((option) => findGitOptionValue(value, option))
    .find((each) => each !== undefined);
  if (optionValue === undefined) return [];
  const isOptional = name === 'grep';
  if (optionValue === '' && isOptional) return [];
  return [parseScriptRun(at, [optionValue === '' ? next : createLiteralWord(optionValue)], parser)];
}

function findCloneSetting(value: string): ShellWord | undefined {
  const attached = /^(?:-c|--config=)(.+)$/s.exec(value)?.[1];
  return attached === undefined ? undefined : createLiteralWord(attached);
}

/**
 * Finds the value that a word gives to an option; an empty text if the value is the next word. Returns undefined if the
 * word is not this option.
 */
function findGitOptionValue(word: string, option: string): string | undefined {
  if (word === option) return '';
  if (option.startsWith('--')) {
    const [name = '', ...value] = word.split('=');
    return name.length > 3 && option.startsWith(name) ? value.join('=') : undefined;
  }
  const at = /^-[A-Za-z]/.test(word) ? word.indexOf(option.charAt(1), 1) : -1;
  return at > 0 ? word.slice(at + 1) : undefined;
}

/** Finds the commands that git runs because of `-c KEY=VALUE`. An unknown setting may make git run anything. */
function findSettingRuns(
  at: number,
  setting: ShellWord | null,
  parser: ShellParser,
): readonly InnerRun[] {
  const text = setting?.value;
  if (text === undefined || text === null) return [createOpenRun(at)];
  const equals = text.indexOf('=');
  const key = equals < 0 ? text : text.slice(0, equals);
  const value = equals < 0 ? '' : text.slice(equals + 1);
  if (HARMLESS_SETTING.test(key)) return [];
  if (/^alias\./i.test(key)) {
    if (value.startsWith('!'))
      return [parseScriptRun(at, [createLiteralWord(value.slice(1))], parser)];
    return [parseScriptRun(at, [createLiteralWord(`git ${value}`)], parser)];
  }
  if (COMMAND_SETTING.test(key)) {
    const isOff = /^(?:|true|false)$/i.test(value);
    const command = value.replace(/^!/, '');
    return isOff ? [] : [parseScriptRun(at, [createLiteralWord(command)], parser)];
  }
  return [createOpenRun(at, parser(value).commands)];
}
