import { isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import { speakerAt } from './speaker.ts';

/** Whatever was done, it was done with a command. */
const BY_MEANS = new RegExp(
  `(?<![\\w-])(?:[a-z-]+ed(?: up| out)?|built|rebuilt|undone|ran|made|written|rewritten|set up|run)(?: (?!not |to |so |that |which )[\\w'./‹›:-]+,?){0,9}? (?:with|using|via|by running|through|by executing|by invoking|running|with a|by way of|and ran|and running|by means of) (?:a |the |plain )?‹c(\\d+)›`,
  'g',
);
/** As in `Installed husky (COMMAND)`. */
const IN_BRACKETS =
  /(?<![\w-])(?:installed|generated|regenerated|built|rebuilt|compiled|formatted|reformatted|migrated|committed|pushed|executable|verified|checked|tested|linted|measured|benchmarked|restored|reset|updated|upgraded|bumped|scaffolded|seeded|published|deployed|started|executed|uninstalled|confirmed|reproduced|synced|vendored)(?: [\w'./‹›:,&-]+){0,6} ?\((?:\w+ ){0,3}‹c(\d+)›/g;
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
    if (speakerAt(clause, match.index) !== null || isPassive(text, match.index)) {
      claimed.push(commands[Number(match[1])] ?? '');
    }
  }
  for (const match of text.matchAll(IN_BRACKETS)) {
    if (speakerAt(clause, match.index) !== null || isPassive(text, match.index)) {
      claimed.push(commands[Number(match[1])] ?? '');
    }
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

/** As in `The client was generated with COMMAND`, `Snapshots updated via COMMAND`. */
function isPassive(text: string, at: number): boolean {
  const before = text.slice(0, at).replace(/\byour\b/g, 'the');
  return (
    before.length < 120 &&
    !isHedged(before) &&
    !isAttributed(text.slice(at)) &&
    !/\b(?:is|are|be|it|this|that|script|target|ci|job|user|users) $/.test(before)
  );
}
