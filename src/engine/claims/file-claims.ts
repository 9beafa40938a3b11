import { ADVERB, isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import { listFrom, names, VERBS, type FileClaim } from './changed-files.ts';
import { passiveClaims } from './passive-claims.ts';
import { speakerAt } from './speaker.ts';

const VERB = new RegExp(`(?<![\\w-])${VERBS}(?![\\w-])`, 'g');
/** Their object is the file itself; the others tell of something in it. */
const OF_FILES =
  /^(?:(?:re-?)?(?:created|generated|added|formatted|saved|structured|organi[sz]ed|initiali[sz]ed)|wrote|written|edited|modified|updated|changed|fixed|patched|deleted|removed|renamed|moved|refactored|rewrote|rewritten|reworked|simplified|cleaned up|overwrote|overwritten|replaced|restored|reverted|corrected|adjusted|extended|expanded|tweaked|amended|touched|scaffolded|set up|drafted|authored|produced|converted|migrated|enhanced|improved|optimi[sz]ed|populated|filled in|split|merged|dropped|introduced|implemented|trimmed|tightened|hardened|eliminated|erased|purged|reconfigured|configured|built|bumped)$/;
const INTO =
  /^(?:(?:re-?)?(?:added|saved|generated|formatted)|wrote|written|moved|appended|inserted|exported|extracted|copied|merged|ported|migrated|converted|dumped|prepended|recorded|applied|documented|made .*|renamed|put|produced|split)$/;
const OUT_OF = /^(?:deleted|removed|stripped|dropped|extracted|eliminated|erased|purged|moved)$/;
const AT =
  /^(?:(?:re-?)?(?:created|generated|saved|added)|wrote|written|placed|stored|put|produced|copied|moved|exported|drafted|scaffolded|set up|recorded|dumped)$/;

const FILE = /‹f(\d+)›/;
/** In front of a file that is the object: no more than what qualifies it. */
const QUALIFIES =
  /^[:\s(]*(?:(?:the|a|an|my|our|its|both|all|two|three|four|new|old|following|files?|called|named|module|script|ok-mark|at|[a-z]+(?:-[a-z]+)?|‹x›)[:,]?\s+){0,6}[("']*$/;
const NOT_QUALIFYING =
  /\b(?:to|in|into|from|for|with|of|on|by|as|using|via|like|that|which|and|or|so|because|about|between|against|per|through|across|under|than|after|before|since|see|vs|without|referenc\w*|import\w*|link\w*|how|what|when|where|why|whether|if)\b/;
/** Between a verb and the file that it says something was done in. */
const NOT_LOCATING =
  /\b(?:to use|to match|to reference|to point|to import|to call|based on|similar|like|as in|see|seen|from|according|using|because|so that|which|who|whose|whenever|when|if|instead|matching|compared|refer\w*|links?|linked|pointers?|imports?|call(?:s|ed)? (?:to|in|from)|defined|found|described|documented|mentioned|listed|specified|located|existing in|already in|present in|used (?:in|by|for)|needed by|required by|reported|read|that|as defined|per)\b/;

/** The files that a clause claims to be changed. */
export function fileClaims(clause: Clause): readonly FileClaim[] {
  if (clause.files.length === 0 || clause.text.endsWith('?') || standsElsewhere(clause.under))
    return [];
  if (clause.cells !== null) return [...rowClaims(clause)];
  const claims = [...activeClaims(clause), ...ownClaims(clause)];
  if (claims.length > 0) return claims;
  if (isAttributed(clause.text)) return [];
  return [...listClaims(clause), ...passiveClaims(clause)];
}

function* activeClaims(clause: Clause): Generator<FileClaim> {
  const { text, files } = clause;
  for (const match of text.matchAll(VERB)) {
    const end = match.index + match[0].length;
    const objects = objectsOf(match[0], text.slice(end, end + 260));
    if (objects.length === 0) continue;
    const speaker = speakerAt(clause, match.index);
    if (speaker === null || (speaker === 'unnamed' && isAttributed(text))) continue;
    const isFirstPerson = speaker === 'first';
    for (const oneOf of objects) {
      yield { oneOf: oneOf.flatMap((at) => files[at] ?? []), isFirstPerson };
    }
  }
}

const OWN = [
  // As in `FILE, which I just wrote`.
  new RegExp(`‹f(\\d+)›,? (?:which|that) (?:i|we)(?:'ve| have)? (?:${ADVERB} )*${VERBS}(?![\\w-])`),
  // As in `In FILE, I replaced`.
  new RegExp(
    `^[^\\w‹]*(?:(?:and|also|then|finally) )?in ‹f(\\d+)›,? (?:i|we)(?:'ve| have)? (?:${ADVERB} )*${VERBS}(?![\\w-])`,
  ),
];
/** As in `FILE created successfully`, `Changes made to FILE`. */
const BRIEF = [
  /^[^\w‹]*(?:ok-mark )?(?:the |new )*(?:file )?‹f(\d+)› (?:successfully )?(?:created|written|updated|modified|deleted|removed|saved|generated|added|renamed|edited|fixed)(?: successfully)?(?=$|[.,;!)]| with\b| and\b| ok-mark)/,
  /^[^\w‹]*(?:changes?|edits?|updates?|modifications?|fix(?:es)?) (?:made |applied )?(?:to|in) ‹f(\d+)›/,
];

function* ownClaims({ text, files }: Clause): Generator<FileClaim> {
  for (const pattern of OWN) {
    const at = pattern.exec(text)?.[1];
    if (at !== undefined) yield { oneOf: names(files, [Number(at)]), isFirstPerson: true };
  }
  if (isAttributed(text)) return;
  for (const pattern of BRIEF) {
    const at = pattern.exec(text)?.[1];
    if (at !== undefined) yield { oneOf: names(files, [Number(at)]), isFirstPerson: false };
  }
}

type Objects = readonly (readonly number[])[];

/** Numbers of the files that the words behind a verb say were changed. */
function objectsOf(verb: string, rest: string): Objects {
  const found = FILE.exec(rest);
  if (found === null) return [];
  const between = rest.slice(0, found.index);
  if (/[.!?;]/.test(between)) return [];
  const first = Number(found[1]);
  const after = rest.slice(found.index + found[0].length);
  const target = /^ (?:to|into) (?:the )?‹f(\d+)›/.exec(after);
  if (target !== null && / from (?:the )?$/.test(between)) return [[first, Number(target[1])]];
  if (/^ (?:is|are|was|were|has|have) /.test(after)) return [];
  if (QUALIFIES.test(between) && !NOT_QUALIFYING.test(between)) {
    return OF_FILES.test(verb) ? directObjects(verb, first, after) : [];
  }
  return isLocated(verb, between) ? listFrom(first, after).map((each) => [each]) : [];
}

function directObjects(verb: string, first: number, after: string): Objects {
  const pair =
    /^(?: ?\([^()]{0,60}\))? (?:to|into|with|as|→|->|=>) (?:the |a |new |its )*‹f(\d+)›/.exec(
      after,
    ) ?? /^ ?(?:→|->|=>) ?‹f(\d+)›/.exec(after);
  if (pair !== null) return [[first, Number(pair[1])]];
  // Something was done to its mention elsewhere.
  if (
    /^(?:added|introduced|registered|configured)$/.test(verb) &&
    /^ (?:to|in|into|as) /.test(after)
  )
    return [];
  if (
    /^(?:removed|dropped|deleted)$/.test(verb) &&
    /^ from (?!the (?:repo|project|disk|root|workspace|codebase|src))/.test(after)
  )
    return [];
  if (
    /^(?:(?:file |module )?(?:imports?|references?|links?|paths?|mentions?|entry|entries|globs?|patterns?|usages?|handling|loading|parsing|support|generation|output|format|exports?|fixtures?|lookups?|detection|calls?|logic|rules?)|-\w+)\b/.test(
      after.trimStart(),
    )
  )
    return [];
  return listFrom(first, after).map((each) => [each]);
}

function isLocated(verb: string, between: string): boolean {
  const place =
    /(?:^|\s)(in|into|inside|within|to|from|at|as|under|of|across|on)(?::| both| the| a| an| new| file| files| its| our| root| top-level| existing| called| named| main| test| \w+ file)*[\s(:]*$/.exec(
      between,
    );
  if (place === null) return false;
  const what = between.slice(0, place.index);
  if (
    NOT_LOCATING.test(what) ||
    (isHedged(what.slice(0, 40)) === true && /^ ?(?:not|no)\b/.test(what))
  )
    return false;
  switch ((place[1] ?? '').toLowerCase()) {
    case 'in':
    case 'into':
    case 'inside':
    case 'within':
    case 'across':
      return true;
    case 'to':
      return (
        INTO.test(verb) &&
        !/\b(?:access|path|route|reference|pointer|according|due|related|support|equivalent|compared|up|back|identical|close|next|prior|attention)$/.test(
          what,
        )
      );
    case 'from':
      return OUT_OF.test(verb);
    case 'at':
    case 'as':
    case 'under':
      return AT.test(verb);
    case 'of':
      return /\b(?:top|bottom|start|end|header|contents?|rest|body|section|sections|version|half|part|beginning)$/.test(
        what,
      );
    default:
      return false;
  }
}

const LIST_HEAD =
  /^(?:[^a-z‹]|ok-mark)*(?:(?:new|all|the|list of|summary of|which|source|test)\s+)*(?:files?|changes?|modules?|scripts?)?\s*(?:(?:i|i've|that i|that were|were|we|have been)\s+)*(?:created|changed|modified|updated|added|edited|deleted|removed|renamed|touched|written|affected|made|new|generated|produced|saved)(?:\s*(?:\/|,|and|or|&)\s*(?:created|changed|modified|updated|added|edited|deleted|removed|renamed|new))*\s*(?:files?|paths?)?(?:\s*\(\d+\))?(?: are| in this task| during this task)?\s*:?\s*$/;
const LEADS_LIST = new RegExp(
  `^(?:[^a-z‹]|ok-mark)*(?:(?:i|we)(?:'ve| have)? )?(?:${ADVERB} )*${VERBS}\\b[^.]{0,60}\\b(?:files?|following|modules?|scripts?|components?|docs|documents|configs?|tests?|these|below|places)[^.]{0,30}:\\**$`,
);
const LIST_INLINE =
  /^(?:[^a-z‹]|ok-mark)*(?:(?:new|all|the|output|created|modified|updated|added|changed|deleted)\s+)*(?:files?|changes?|edits?|updates?)\s*(?:i\s+)?(?:created|changed|modified|updated|added|edited|deleted|removed|touched|written)?(?:\s*(?:\/|and|or)\s*\w+)?\s*(?:\(\d+\))?\s*:\s*(?=‹f)/;
const DONE_LEAD =
  /^(?:[^a-z‹]|ok-mark)*(?:here(?:'s| is) )?(?:what (?:i|was|we|i've)(?: have)? (?:did|done|changed|created|built|added|implemented)|(?:a )?(?:summary of )?(?:the )?changes(?: made| i made)?|(?:i|we)(?:'ve| have)? (?:\w+ly )?(?:created|added|updated|modified|changed|wrote|edited|made|implemented)\b.*|work (?:done|completed)|completed|done|implemented|deliverables)\s*:?\s*$/;
const STATUS = new RegExp(
  `^(?:[^\\w‹]|ok-mark)*(?:(?:newly|${ADVERB}) )*(?:${VERBS}|new(?: file)?|create|modify|edit|update|add|delete)(?![\\w-])`,
);

/** Files at the start of a list item under a heading of changes, or with their change behind them. */
function* listClaims(clause: Clause): Generator<FileClaim> {
  const { text, files, under, isItem } = clause;
  const inline = LIST_INLINE.exec(text);
  const start = inline === null ? text : text.slice(inline[0].length);
  const found = /^(?:[^a-z‹]|ok-mark)*‹f(\d+)›/.exec(start);
  if (found === null) return;
  const first = Number(found[1]);
  const after = start.slice(found[0].length);
  const lead = under.at(-1) ?? '';
  const isListed =
    inline !== null ||
    LIST_HEAD.test(lead) ||
    (isItem && LEADS_LIST.test(lead)) ||
    (isItem && under.some((each) => LIST_HEAD.test(each)));
  const change = /^\s*(?::|—|–|-|\(|→|=>|->|\|)\s*/.exec(after);
  const says =
    change !== null && STATUS.test(after.slice(change[0].length)) && !isHedged(after.slice(0, 60));
  const isDone =
    isItem && change !== null && under.some((each) => DONE_LEAD.test(each)) && !isHedged(after);
  if (!isListed && !says && !isDone) return;
  if (
    /^[\s—–:(-]*(?:unchanged|no change|not|already|existing|read|reviewed|none|untouched|left)/.test(
      after,
    )
  )
    return;
  for (const at of listFrom(first, after))
    yield { oneOf: names(files, [at]), isFirstPerson: false };
}

/** A table row with one file, and a cell that begins with what was done to it. */
function* rowClaims({ cells, files, text, under }: Clause): Generator<FileClaim> {
  if (cells === null || cells.length < 2 || isHedged(text) || isAttributed(text)) return;
  const [first = ''] = cells;
  if (files.length === 0 || !first.includes(files[0] ?? '')) return;
  const status = cells.slice(1).some((cell) => STATUS.test(cell.replace(/[*_`]/g, '')));
  if (status || under.some((each) => LIST_HEAD.test(each))) {
    yield { oneOf: files.slice(0, 1), isFirstPerson: false };
  }
}
