import { standsElsewhere, type Clause } from './clause.ts';
import { isHedged } from './clause.ts';
import { kindsOf } from './check-kinds.ts';
import type { ClaimFacts } from './facts.ts';
import { programName, segmentsOf } from './shell-lines.ts';
import { speakerAt } from './speaker.ts';

const BY_MEANS =
  /(?<![\w-])(?:committed|installed|compiled|built|verified|formatted|deployed|restored|generated|checked|tested|linted|validated|confirmed|applied|created|updated|migrated|rebuilt|pushed|scaffolded|reverted|fixed|started|bumped|upgraded|removed|bootstrapped|re-generated|regenerated|initiali[sz]ed|type-?checked|cleaned up|double-checked|published|tagged|staged|refreshed|synced)(?: (?!not |to |so )[\w'./‹›-]+,?){0,9}? (?:with|using|via|by running|through|by executing|by invoking|running|with a|by way of|and ran|and running) ‹c(\d+)›/g;
const RAN =
  /(?<![\w-])(?:re-?)?(?:ran|executed|invoked|issued|launched|performed|used|tested (?:it |this |everything )?with|verified (?:it |this |everything |the \w+ )?(?:with|by running|using|via)|confirmed (?:it |this )?(?:with|by running|using|via)|checked (?:it |this )?(?:with|by running|using|via)|validated (?:it |this )?(?:with|by running|using|via))(?: (?:the|a|command|commands|following|full|just|it|with|both|all|a final|successfully|tests|suite|linter|build|migration|migrations|formatter|via|using|through|once|[a-z]+))?(?: (?:via|with|using|through|command|:|suite|again|\())*[ (:]*‹c(\d+)›((?:,? (?:and|then|and then|followed by|,|\+|&|plus)? ?‹c\d+›)*)/g;

/** Commands that a clause says the answerer ran. */
export function commandClaims(clause: Clause): readonly string[] {
  const { text, commands, under } = clause;
  if (commands.length === 0 || text.endsWith('?') || standsElsewhere(under)) return [];
  const claimed: string[] = [];
  for (const match of text.matchAll(RAN)) {
    if (speakerAt(clause, match.index) === null) continue;
    const numbers = [
      Number(match[1]),
      ...[...(match[2] ?? '').matchAll(/‹c(\d+)›/g)].map(([, at]) => Number(at)),
    ];
    claimed.push(...numbers.flatMap((at) => commands[at] ?? []));
  }
  for (const match of text.matchAll(BY_MEANS)) {
    if (speakerAt(clause, match.index) !== null) claimed.push(commands[Number(match[1])] ?? '');
  }
  const after = /^(?:[^a-z‹]|ok-mark|after|by)*(?:re-?)?(?:running|executing) ‹c(\d+)›/.exec(text);
  if (after !== null && !isHedged(text))
    claimed.push(...(commands[Number(after[1])] ?? '').split('\n'));
  const passive =
    /‹c(\d+)› (?:was|has been) (?:\w+ly )?(?:run|executed|re-run)\b(?! by| in (?:ci|the))/.exec(
      text,
    );
  if (passive !== null && !isHedged(text))
    claimed.push(...(commands[Number(passive[1])] ?? '').split('\n'));
  return claimed.filter((command) => command !== '');
}

/** Programs that tools of the task do the work of. */
const BY_TOOLS = new Set(
  `cat head tail less ls ll tree find fd grep egrep rg ag sed awk wc stat file cd pwd echo printf cp mv rm rmdir mkdir
   touch test which sort uniq cut diff jq yq bat tee ln curl wget basename dirname realpath du`.split(
    /\s+/,
  ),
);

/** Whether the receipt may hold that command: all its words in one that ran, or one that does the same. */
export function mayHaveRun(command: string, facts: ClaimFacts): boolean {
  const claimed = segmentsOf(command);
  const programs = claimed.map(({ words }) => programName(words[0] ?? ''));
  if (programs.some((program) => BY_TOOLS.has(program) || program === ''))
    return facts.tools.size > 0;
  const ran = facts.runs
    .flat()
    .map((run) => ({ text: run.command, segments: segmentsOf(run.command) }));
  return claimed.every((segment) => {
    const words = segment.words.map(programName).filter((word) => !word.startsWith('-'));
    const { kinds } = kindsOf(segment);
    return ran.some(({ text, segments }) => {
      const known = new Set(text.split(/[\s"'();&|]+/).map(programName));
      if (isAnyIn(words, known)) return true;
      return segments.some((each) => {
        const did = kindsOf(each);
        return did.isOpen || [...kinds].some((kind) => did.kinds.has(kind));
      });
    });
  });
}

/** The program and what it was told to do; further words may be named loosely. */
function isAnyIn(
  [program = '', verb = program]: readonly string[],
  known: ReadonlySet<string>,
): boolean {
  return known.has(program) && (known.has(verb) || /[./\d<[]/.test(verb));
}
