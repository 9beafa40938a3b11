import { listFrom, names, VERBS, type FileClaim } from './changed-files.ts';
import { ADVERB, isHedged, type Clause } from './clause.ts';

const BEEN = `(?:has been|have been|was|were|is now|are now|got|has now been|have now been|is|are)`;
const PASSIVE = new RegExp(
  `((?:‹f\\d+›(?: ?\\([^()]{0,60}\\))?(?:,? and |, | & |)){1,12})(?: files?| modules?| scripts?)?,? (${BEEN})((?: (?:been|now|${ADVERB}))*) (${VERBS})(?![\\w-])(.*)$`,
);
const PASSIVE_IN = new RegExp(
  `\\b(?:in|inside|within|at|of|to) (?:the )?(?:new )?(?:file )?‹f(\\d+)› (${BEEN})((?: (?:been|now|${ADVERB}))*) (${VERBS}|resolved|done)(?![\\w-])(.*)$`,
);
const PASSIVE_TO = new RegExp(
  `\\b(${BEEN})((?: (?:been|now|${ADVERB}))*) (written|saved|stored|added|created|generated|moved|exported|placed|appended|put|recorded|made|applied|fixed|implemented|extracted|inserted|removed|updated|corrected|resolved|copied|documented|refactored|replaced|renamed|patched|introduced|configured|registered|defined)(?: out| up)?((?: [a-z-]+){0,5}?) (?:to|in|into|at|as|under|inside|within|from|across)(?: the| a| new| file| files)* ‹f(\\d+)›(.*)$`,
);
/** As in `Report saved to FILE`. */
const REDUCED =
  /^(?:[^a-z‹]|ok-mark)*(?:(?!is|are|was|were|the|that|which|when|it|gets|i|you|to)[\w/'-]+ |the (?=\w+ (?:\w+ )?(?:added|saved|written))){1,5}(?:added|saved|written|created|generated|fixed|updated|removed) (?:to|at|in|into|from|as|under)(?: the| a| new| file)* ‹f(\d+)›/;
const NOW_HAS =
  /^[^‹]{0,60}‹f(\d+)›(?: file| module)? now (?:contains?|includes?|exists?|has|have|exports?|handles?|uses?|validates?|returns?|throws?|supports?|reads|checks|accepts|logs|imports|documents|covers|describes|lists|shows|passes)\b/;

/** Files of which a clause says that they have been changed, without saying by whom. */
export function* passiveClaims(clause: Clause): Generator<FileClaim> {
  const { text, files } = clause;
  const listed = PASSIVE.exec(text);
  if (
    listed !== null &&
    isAccount(clause, listed.index, [listed[2], listed[3], listed[4], listed[5]])
  ) {
    const numbers = [...(listed[1] ?? '').matchAll(/‹f(\d+)›/g)].map(([, at]) => Number(at));
    const pair = /^ (?:to|into|with) (?:the )?‹f(\d+)›/.exec(listed[5] ?? '');
    if (pair !== null)
      yield { oneOf: names(files, [...numbers, Number(pair[1])]), isFirstPerson: false };
    else for (const at of numbers) yield { oneOf: names(files, [at]), isFirstPerson: false };
    return;
  }
  const inside = PASSIVE_IN.exec(text);
  if (
    inside !== null &&
    isAccount(clause, inside.index, [inside[2], inside[3], inside[4], inside[5]])
  ) {
    yield { oneOf: names(files, [Number(inside[1])]), isFirstPerson: false };
    return;
  }
  const into = PASSIVE_TO.exec(text);
  if (into !== null && isAccount(clause, into.index, [into[1], into[2], into[3], into[6]])) {
    const list = listFrom(Number(into[5]), into[6] ?? '');
    for (const at of list) yield { oneOf: names(files, [at]), isFirstPerson: false };
    return;
  }
  const short = REDUCED.exec(text);
  if (
    short !== null &&
    !isHedged(text.slice(0, short.index + short[0].length)) &&
    !/\balready\b/.test(text)
  ) {
    for (const at of listFrom(Number(short[1]), text.slice(short.index + short[0].length))) {
      yield { oneOf: names(files, [at]), isFirstPerson: false };
    }
    return;
  }
  const now = NOW_HAS.exec(text);
  if (now !== null && !isHedged(text.slice(0, now.index + now[0].length))) {
    yield { oneOf: names(files, [Number(now[1])]), isFirstPerson: false };
  }
}

/** Whether a passive tells of what has just been done: a bare `is` tells of how things are. */
function isAccount(
  { text }: Clause,
  at: number,
  [being = '', adverbs = '', verb = '', tail = '']: readonly (string | undefined)[],
): boolean {
  if (
    /^(?:is|are)$/.test(being) &&
    !/\b(?:now|successfully|fully)\b|^(?:fixed|resolved|corrected|patched|updated)$/.test(
      `${adverbs}${verb}`.trim(),
    )
  )
    return false;
  if (/\balready\b/.test(text) || isHedged(adverbs)) return false;
  if (/ by (?!(?:me|us|hand|\w+ing)\b)| when(?:ever)? | during | originally/.test(tail))
    return false;
  const before = text.slice(0, at);
  return (
    !isHedged(before) &&
    !/\b(?:that|which|found|notice\w*|after|since|because|where)\b/.test(before)
  );
}
