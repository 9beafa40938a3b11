import type { Statement } from './statements.ts';
import { ADVERB, CHANGED, isHistory, isVetoed, LOOKED, partsOf, saysUnchanged } from './wording.ts';

/** How an answer is read. */
export interface Reading {
  /** What is said in the first person alone is a claim. */
  readonly isFirstOnly: boolean;
  /** Children did some of it: what others did counts as its own. */
  readonly hasChildren: boolean;
}

const FILE = /‹f(\d+)›/g;
const VERB = new RegExp(`(?<![\\w'‹-])${CHANGED}(?![\\w'-])`, 'g');
/** In front of a verb in the name of the answerer: nothing, or `I`. */
const SELF = new RegExp(`^(?:[^\\w‹]|${ADVERB}(?= |$)|step \\d+:? |(?:i|we)(?:'ve)?(?= |$))*$`);
const FIRST =
  /(?:^|[ ,(])(?:i|we)(?:'ve)?(?: (?:have|also|then|now|just|[a-z]+ly|went ahead and|both))*$/;
const BE = new RegExp(`(?:^| )(?:was|were|been|is|are|got)(?: (?:${ADVERB}))*$`);
/** `is written to` tells what a program does. */
const HABITUAL =
  /^(?:written|saved|generated|stored|created|copied|moved|produced|rebuilt|sent|exported)$/;
/** Behind a participle without a verb of its own: `Docs updated (‹f0›)`. */
const BRIEF =
  /^(?:$|[ ]?[.,;:()¦✓]| (?:to|into|in|from|out of|over|at|so|successfully|accordingly)\b)/;

/** Puts a file in another relation than that of what was changed, or where. */
const ASIDE =
  /\b(?:by|via|using|like|way|as (?:written|shown|given|[a-z]+ed)|that|who|if|based on|according|matching|compared|how|what|to (?:match|use|reference|point|import|call|make|get|be|have|avoid|support|keep|fit|see|reflect|cover|handle|mirror|follow|read|load)|linked|(?<!\b(?:the|its|their|all) )imports?|imported|defined|found|described|documented|declared|mentioned|listed|reported|used|parsed|loaded|shown|is|are|was|were|uses|reads|calls) /;
const PLACE =
  /(?:^|[ (])(in|into|inside|within|to|across|throughout|from|at|under|as|on|out of|of|->|→|=>)(?: (?!(?:in|to|of|for|from|with|by|as|on)\b)[\w-]+:?){0,5}[ (:]*$/;
/** Behind these `to` tells a value or an aim. */
const TO_A_VALUE =
  /^(?:pointed|set|switched|changed|redirected|restricted|limited|mapped|aligned|adapted|bound)$/;
/** Behind others `from` tells where something was taken over from. */
const OUT_OF =
  /^(?:removed|deleted|dropped|stripped|cut|took|taken|eliminated|erased|purged|cleaned|moved|extracted|pulled|split|linked)$/;

/** New states, and nouns of change. */
const L =
  '[^‹.;]{0,40}‹f\\d+›(?:(?: ?\\([^()]{0,80}\\))?(?:,? (?:and|&|plus) |, )[^‹.;:]{0,30}‹f\\d+›){0,30}';
const STATES: readonly RegExp[] = [
  new RegExp(
    `((?:‹f\\d+›(?:, | and |, and ))*‹f\\d+›)(?: ?\\([^()]{0,80}\\))?[,)]? (?:both |all |each )?(?:now\\b|(?:got|gained|received|has got) |(?:is|are|has|have|does|do) now\\b|[^‹]{0,60} now[.;]?$)`,
  ),
  new RegExp(
    `\\b(?:now (?:lives?|sits?|resides?|is|are)|(?:is|are) now|(?:there(?:'s| is| are)|have) now [^‹]{0,60}|lives?|it's|they're|it is|they are) in(${L})`,
  ),
  new RegExp(`((?:‹f\\d+›(?:, | and |, and ))*‹f\\d+›) (?:is|are) (?:both |all )?gone\\b`),
  /\b(?:a|the) new(?: (?!(?:is|are|was|from|in|to|of|by|for|with|on|at|as)\b)[\w-]+){1,3},? \(?(‹f\d+›)/,
  new RegExp(
    `\\b(?:changes?|edits?|updates?|fix(?:es)?|modifications?)(?: made| applied)?(?: (?:is|are|was|were))?(?: all| only| mainly)? (?:in|to):?(${L})`,
  ),
  new RegExp(
    `^[^\\w‹]*(?:(?:new|test|source|the|all) )*(?:files? |docs? )?(?:i )?(?:${CHANGED}|new)(?: files?)?(?: \\(\\d+\\))?:(${L})`,
  ),
];
/** As in `specs were adapted: ‹f0›, ‹f1›`. */
const LED = new RegExp(
  `^([^‹:]{0,120}(?:was|were|been|are|is) (?:${ADVERB} )*${CHANGED}(?: [a-z]+){0,4}): ((?:‹f\\d+›(?:, | and |, and )?)+)[.;]?$`,
);
/** As in `‹f0›: added …`, `‹f0› (new)`, `‹f0› ¦ created`. */
const OWN_ITEM = new RegExp(
  `^[^\\w‹]*(?:(?:the|new|file) )*(‹f\\d+›(?:(?:, | and | → | -> )‹f\\d+›)*)[ )]*(?:[:(¦—–→-]|->)+ ?(?:[^\\w‹]|${ADVERB} )*(?:${CHANGED}|new)(?![\\w'-])`,
);
/** As in `created ¦ ‹f0›`. */
const OWN_ROW = new RegExp(
  `^[^\\w‹]*(?:${CHANGED}|new|add|create|edit|update|delete|modify|remove|rename)(?: file)? ¦ (‹f\\d+›)`,
);

/** Numbers of the files that a statement says were changed. */
export function filesClaimed(statement: Statement, reading: Reading): ReadonlySet<number> {
  const claimed = new Set<number>();
  const claim = (files: string | undefined) => {
    for (const [, at] of (files ?? '').matchAll(FILE)) claimed.add(Number(at));
  };
  const { text, files } = statement;
  if (files.length === 0) return claimed;
  if (!reading.isFirstOnly && !saysUnchanged(text)) {
    claim(OWN_ITEM.exec(text)?.[1]);
    claim(OWN_ROW.exec(text)?.[1]);
  }
  const led = LED.exec(text);
  if (!reading.isFirstOnly && led !== null && !isVetoed(led[1] ?? '') && !LOOKED.test(led[1] ?? ''))
    claim(led[2]);
  let isOwn = true;
  for (const part of partsOf(text)) {
    for (const state of reading.isFirstOnly ? [] : STATES) {
      const found = state.exec(part);
      if (found !== null && !isVetoed(part.slice(0, found.index + found[0].length)))
        claim(found[1]);
    }
    const verbs = verbsOf(part, { ...reading, isOwn });
    isOwn &&= isVetoed(part) || SELF.test(part) || verbs.some(({ voice }) => voice === 'self');
    for (const verb of verbs) claim(objectsOf(part, verb).join());
  }
  return claimed;
}

interface Verb {
  readonly voice: 'self' | 'passive' | 'brief';
  readonly start: number;
  readonly end: number;
}

/** The verbs of a part that tell of a change by the answerer. `isOwn`: so do those in front of it. */
function verbsOf(
  part: string,
  { isFirstOnly, hasChildren, isOwn }: Reading & { readonly isOwn: boolean },
): readonly Verb[] {
  const verbs: Verb[] = [];
  for (const { 0: word, index: start } of part.matchAll(VERB)) {
    const end = start + word.length;
    const before = part.slice(0, start).trimEnd();
    const goesOn = verbs.at(-1)?.voice === 'self' && /(?: and|,|&)$/.test(before);
    const isSelf = FIRST.test(before) || (!isFirstOnly && (goesOn || (isOwn && SELF.test(before))));
    if (isSelf) verbs.push({ voice: 'self', start, end });
    else if (isFirstOnly) continue;
    else if (/(?:^| )(?:is|are)$/.test(before) && HABITUAL.test(word)) continue;
    else if (BE.test(before)) verbs.push({ voice: 'passive', start, end });
    else if (hasChildren && !/\b(?:the|a|an|of|newly)$/.test(before))
      verbs.push({ voice: 'self', start, end });
    else if (before.length < 80 && !/\b(?:as|like|than)$/.test(before) && BRIEF.test(part.slice(end)))
      verbs.push({ voice: 'brief', start, end });
  }
  return verbs;
}

/** The files that such a verb says were changed, as they stand in its part. */
function objectsOf(part: string, { voice, start, end }: Verb): readonly string[] {
  if (isVetoed(part.slice(0, end)) || isHistory(part)) return [];
  const objects = voice === 'self' ? [] : subjectsOf(part.slice(0, start));
  if (voice !== 'self' && objects.length > 0) return objects;
  let from = end;
  for (const { 0: file, index } of part.matchAll(FILE)) {
    if (index < end || isVetoed(part.slice(0, index), end)) continue;
    const between = part.slice(from, index);
    const isMore =
      from > end &&
      /^(?: ?\([^()]{0,80}\))?(?:,? (?:and|&|plus|as well as) |, |\/)(?:(?:in|to|the|a|its|new|test) ){0,3}(?:[\w-]+ ){0,2}\(?$/.test(
        between,
      );
    if (
      !isMore &&
      !isObject(part.slice(start, end), part.slice(end, index), { isFirst: from === end })
    ) {
      if (objects.length > 0) break;
      continue;
    }
    if (!isMore && from === end && isEntry(part.slice(start, end), part.slice(index + file.length))) continue;
    if (
      (isMore
        ? /^ (?:is|are|was|were|have|[a-z]{2,}s)\b/
        : /^ (?:does|did|is|was|has|had|uses|expects|do|are|were|have)\b/
      ).test(part.slice(index + file.length))
    )
      break;
    objects.push(file);
    from = index + file.length;
  }
  return objects;
}

function isObject(
  verb: string,
  between: string,
  { isFirst }: { readonly isFirst: boolean },
): boolean {
  if (
    isFirst &&
    /^[ ✓]*\($|[a-z ✓]\($/.test(between) &&
    !/\b(?:see|like|as|e\.g\.)\b/.test(between)
  )
    return true;
  if (between.length > 200 || ASIDE.test(`${between} `)) return false;
  const place = PLACE.exec(between)?.[1];
  if (place === undefined)
    return (
      isFirst &&
      /^[:¦]?(?: ?[("]?(?:(?!(?:with|for|on|without)\b)[\w-]+|‹x›)[:,]?){0,6}[ ("]*$/.test(between)
    );
  if (place === 'to' && TO_A_VALUE.test(verb)) return false;
  if (place === 'from' && !OUT_OF.test(verb)) return false;
  return (
    place !== 'of' ||
    /\b(?:top|bottom|start|end|header|rest|body|sections?|half|beginning|all)\b/.test(between)
  );
}

const TO_A_LIST =
  /^(?:added|appended|inserted|included|registered|imported|linked|listed|copied|moved|removed|dropped|deleted|merged)$/;

/** Whether a file is what was entered in, or taken out of, something else. */
function isEntry(verb: string, after: string): boolean {
  return (
    (TO_A_LIST.test(verb) && /^ (?:from|to|in|into) [^‹.,]{0,60}‹/.test(after)) ||
    /^ (?:from|in) [^‹.,]{0,60}‹f/.test(after) ||
    /^ (?:from|to|in|into) [^‹.,]{0,60}(?:list|array|config|section|exports?|imports?)/.test(
      after,
    ) || /^[ -](?:imports?|references?|links?|mentions?|entry|entries|usages?|paths?)\b/.test(after)
  );
}

/** In front of a passive verb: the files that end its subject, or say where it is. */
function subjectsOf(before: string): string[] {
  const list =
    /((?:‹f\d+›(?: ?\([^()]{0,80}\))?(?:,? (?:and|&|plus) (?:the |its )?|, |\/)){0,30}‹f\d+›)\)?[ ,]*(?:\([^()]{0,80}\)[ ,]*)?(?:[a-z']+ ){0,4}$/.exec(
      before,
    );
  if (list === null) return [];
  const files = list[1] ?? '';
  const ahead = before.slice(0, before.indexOf(files));
  const isAside =
    ASIDE.test(ahead) || /\b(?:from|to|of|on) (?:(?:the|a|an) )?(?:[\w-]+ ){0,2}$/.test(ahead);
  return isAside ? [] : [...files.matchAll(FILE)].map(([file]) => file);
}

const NAMES_MORE = '(?:(?:,? (?:and|&|plus|as well as) (?:the |its |in |to |also ){0,3}(?:[\\w-]+ ){0,2}|, (?:and )?|/)\\(?‹f\\d+›(?: ?\\([^()]{0,80}\\))?)';
/** Files in one breath. */
const TOGETHER = new RegExp(`‹f\\d+›(?: ?\\([^()]{0,80}\\))?${NAMES_MORE}{1,30}`, 'g');
/** In front of what was changed, or where; or at the start. */
const LEADS_IN =
  /(?:^(?:[^\w‹]*(?:plus|and|as well as|along with) )?|[(:] ?|\b(?:in|into|to|from|now|both|of|for|across) (?:(?:the|both|all) )?(?:[\w-]+ ){0,2})$/;
/** Leads a list of changes. */
export const TELLS_OF_CHANGE = new RegExp(`(?<![\\w'‹-])(?:${CHANGED}|now|new|got|gone)(?![\\w'-])`);

/** Numbers of the files in each list of a statement of which one may be true for all: `(‹f0›, ‹f1›)`. */
export function filesTogether({ text }: Statement): readonly (readonly number[])[] {
  return partsOf(text).flatMap((part) =>
    [...part.matchAll(TOGETHER)].flatMap(({ 0: files, index }) => {
      const before = part.slice(0, index);
      const isClaim =
        LEADS_IN.test(before) &&
        !LOOKED.test(before) &&
        (/[(:] ?$/.test(before) ? !/\b(?:see|like|as|e\.g\.)\b/.test(before) : !ASIDE.test(`${before} `)) &&
        !isVetoed(part) && !saysUnchanged(part);
      return isClaim ? [[...files.matchAll(FILE)].map(([, at]) => Number(at))] : [];
    }),
  );
}

/** Goes on with what was told before: `plus ‹f0›`. */
export const GOES_ON = /^(?:plus|and|as well as|along with|together with) (?:(?:a|an|the|its|new) ){0,2}(?:[\w-]+ ){0,2}(?:in )?‹f0›/;

const SUBJECT =
  /(?:^(?:[^\w‹]*)|[,;] (?:and )?| and )(?:(?:the|a|new) ){0,2}(?:[\w-]+ ){0,2}‹f(\d+)› (?:[a-z]{2,}s|now) /g;

/** Numbers of the files of which a statement says, each in a clause of its own, what they do. */
export function filesInClauses({ text }: Statement): readonly number[] {
  return isVetoed(text) || LOOKED.test(text) || saysUnchanged(text)
    ? []
    : [...text.matchAll(SUBJECT)].map(([, at]) => Number(at));
}

const ITEM_FILES =
  /^(?:[^‹:–—]{0,40}(?:[:–—]| -| in| \() ?)?(?:[^\w‹]|(?:new|the|file|in) )*(‹f\d+›(?:(?:, | and |\/)‹f\d+›)*)/;

/** The files that a list item or table row begins with. */
export function filesOfItem({ text }: Statement): readonly number[] {
  const list = ITEM_FILES.exec(text)?.[1] ?? '';
  return [...list.matchAll(FILE)].map(([, at]) => Number(at));
}
