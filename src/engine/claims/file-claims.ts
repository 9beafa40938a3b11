import type { Statement } from './statements.ts';
import { ADVERB, CHANGED, IRREGULAR, isHistory, isVetoed, LOOKED, partsOf } from './wording.ts';

/** How an answer is read. */
export interface Reading {
  /** What is said in the first person alone is a claim. */
  readonly isFirstOnly: boolean;
  /** Whether a file was read beside others that were changed: it may be told of as it was found. */
  readonly isKnown: (file: string) => boolean;
  /** A change was asked for: then what files are said to be and to do is its account. */
  readonly isReport: boolean;
  /** Whether it was asked how a run goes: then what is said of one is its account. */
  readonly asksToRun: boolean;
}

/** A file in a statement. */
export const FILE = /‹f(\d+)›/g;
/** A verb that tells of a change, and not the adjective that it may be. */
const CHANGE = new RegExp(
  `(?<![\\w'‹-]|\\b(?:the|a|an|any|each|of|its|as|like|than|all|no|in|from|to|with|for) )(?:${CHANGED}|now|new|gone|got)(?![\\w'-])|(?<=(?:^|[ (])an? )new(?= [^‹]{2,40} in ‹)`,
  'g',
);
const FIRST =
  /(?:^|[ ,(])(?:i|we)(?:'ve)? (?:(?:have|also|then|now|just|[a-z]+ly|went ahead and|both) )*$/;

/** Puts a file in another relation than that of what was changed, or where. */
export const ASIDE =
  /\b(?:by|via|using|like|before|after|following|way|as (?:written|shown|given|[a-z]+ed)|that|who|if|based on|according|(?<!the )matching|compared|how|what|to (?:match|use|reference|point|import|call|make|get|be|have|avoid|support|keep|fit|see|reflect|cover|handle|mirror|follow|read|load)|linked|(?<!\b(?:the|its|their|all) )imports?|imported|defined|found|described|documented|declared|mentioned|listed|reported|used|parsed|loaded|shown|is|are|was|were|goes|lands|(?<!\b(?:\d+|the|all|these|those|their|its|of|direct|remaining|old|new|other) )(?:uses|reads|calls|writes)|(?:with|for|as(?! well)|from|of)(?= (?:(?!(?:in|to|into|at)\b)[\w‹›,-]+ )*$)) /;
/** Behind others `from` tells where something was taken over from. */
const OUT_OF =
  /^(?:removed|deleted|dropped|stripped|cut|eliminated|erased|purged|cleaned|moved|extracted|linked|gone)$/;
const TO_A_LIST =
  /^(?:added|appended|inserted|included|registered|imported|linked|listed|copied|moved|removed|dropped|deleted|merged)$/;

const DOES_NOT =
  'needs|passes|differs|lists|imports|lacks|looks|seems|says|fails|exists|was|already|remains|stays|keeps|still|shows|confirms|suggests|explains|depends|relies|expects';
const MORE =
  '(?: ?\\([^()]{0,80}\\))?(?:(?:,? (?:and|&|plus) |, |/)(?:the |its )?‹f\\d+›(?: ?\\([^()]{0,80}\\))?){0,30}';
/** Behind a file: what became of it. */
const BECAME = new RegExp(
  `^${MORE}[,) ]*(?:(?:both|all|each|is|are|has|have|was|were|been|${ADVERB}) )*(?:now\\b|${CHANGED}(?![\\w'-])|new\\b|gone\\b|got\\b|gained\\b)|^${MORE}[ )]*(?:[:(¦—–→-]|->)+ ?(?:[^\\w‹]|${ADVERB} )*(?:${CHANGED}|new)(?![\\w'-])|^(?:[^‹]|‹x›|(?<= (?:is|are) )‹f\\d+›){0,100}(?<! for| by| until) now[.;]?$`,
);
/** In the present it may have been so before. */
const IS_SO = /^\)? (?:is|are) (?!now\b)/;

/** A relative clause, `‹f0›, which I created`, or a place in front: `in ‹f0› I added`. */
const WHICH_I_CHANGED = new RegExp(
  `(?:(?<=(?:^|[:;,] |\\band )(?:in|inside|within|under) (?:the )?)‹f(\\d+)›,?|‹f(\\d+)›\\)?,? (?:which|that)) (?:i|we)(?:'ve| have)? (?:${ADVERB} )*${CHANGED}(?![\\w'-])`,
  'g',
);

/** `fixed: the typo in ‹f0›, the leak in ‹f1›` */
const ENUMERATES = new RegExp(`^(?:[^\\w‹]|[\\w-]+ ){0,6}${CHANGED}(?: [\\w-]+){0,4}: `);
const ENUMERATED =
  /(?:^|[:,] )(?:and )?(?:the|an?|one) [^‹:]{1,40} (?:in|from|of) (?:the )?‹f(\d+)›(?=[.;,]|$)/g;
/** Of another who did something: `the job read ‹f0›`. What follows without a subject is of that one, too. */
const OTHERS = new RegExp(
  `^(?:[^‹]{0,60}: )?(?:the|it|they|he|she|this|your|our|their) (?:(?!(?:i|we|is|are|was|were|been|be|has|have|now|got|gets?|that|which|to)\\b)[\\w‹›'-]+ ){0,4}?(?:[a-z]{2,}ed|${IRREGULAR}) (?=(?:the|an?|its?|at|out|off|no|with|without|‹)\\b|‹)`,
);
const GOES_ON = new RegExp(`^(?:[^\\w‹]|${ADVERB} )*(?:[a-z]{2,}ed|${IRREGULAR})\\b`);

/** Numbers of the files that a statement says were changed. */
export function filesClaimed(
  { said: original, text: said, files }: Statement,
  { isFirstOnly, isReport, isKnown }: Reading,
): ReadonlySet<number> {
  const claimed = new Set<number>();
  if (files.length === 0) return claimed;
  const text = said.replace(/(?<=‹f\d+›\)? (?:now|all|both) )says?\b/g, 'has');
  for (const [, place, object] of text.matchAll(WHICH_I_CHANGED))
    claimed.add(Number(place ?? object));
  const isEnumeration = !isFirstOnly && ENUMERATES.test(text) && !isVetoed(text);
  let isOfOthers = false;
  for (const part of partsOf(text)) {
    isOfOthers = OTHERS.test(part) || (isOfOthers && GOES_ON.test(part));
    if (isEnumeration) for (const [, at] of part.matchAll(ENUMERATED)) claimed.add(Number(at));
    if (isHistory(part)) continue;
    const changes = [...part.matchAll(CHANGE)].filter(({ index }) => {
      const before = part.slice(0, index);
      return (isReport || !/\b(?:is|are) $/.test(before)) && (!isFirstOnly || FIRST.test(before));
    });
    for (const { 0: file, 1: at, index } of part.matchAll(FILE)) {
      const before = part.slice(0, index);
      const after = part.slice(index + file.length);
      const verb = changes.findLast((change) => change.index < index);
      if (isVetoed(before, verb && verb.index + verb[0].length)) break;
      const isObject =
        verb !== undefined &&
        !isOfOthers &&
        isObjectOf(verb[0], before.slice(verb.index + verb[0].length), after);
      const isState =
        !isFirstOnly &&
        !isVetoed(part) &&
        ((isChangedState(before, after) &&
          !(IS_SO.test(after) && isKnown(files[Number(at)] ?? ''))) ||
          (isReport &&
            !isPlace(original, files[Number(at)] ?? '') &&
            !isVetoed(text) &&
            isReported(before, after) &&
            (!SUBJECT.test(before) || /\bnow\b/.test(part) || !isKnown(files[Number(at)] ?? ''))));
      if (isObject || isState) claimed.add(Number(at));
    }
  }
  return claimed;
}

/** Whether a file is named with a line: what is said of it then is what stands there. */
function isPlace(said: string, file: string): boolean {
  const at = said.indexOf(`${file}:`);
  return at !== -1 && /\d/.test(said.charAt(at + file.length + 1));
}

const SUBJECT =
  /^(?:[a-z][^‹:.]{0,30}[:.] )?(?:[^\w‹]|‹[xq]›|(?:the|a|an|new|its|both|and|in|files?) |‹f\d+›)*$/;
const DOES = new RegExp(
  `^${MORE}\\)? (?:(?:now|also|only|both|all|each) )*(?!(?:${DOES_NOT})\\b)(?:[a-z]{2,}s|are|use|have|refer|take|get|follow|contain|say|show|point|read|match|share|import|call|require|pin|target|export|live)\\b`,
);
/** What is told of a place may be what is wrong there. */
const OF_TROUBLE =
  /\b(?:typo|same|bugs?|issues?|problems?|errors?|fail\w*|causes?|culprit|crash\w*|these|those|exits?)\b/;
const LABEL =
  /^(?:the )?(?:fix|test|docs?|changes?|changed|files?|code|migrations?|implementation|new|where|doc page|documentation|result|output|config\w*|view|route|script|module|component)[:.] /;

const STATE =
  /\b(?:is|are|has|have|gets?|takes?|lives?|goes|sits?|exists?|stands?)\b(?:[^‹]|‹[xq]›)*(?: in | at | under |\()(?:the |its |both )?$/;

/** Whether an account says of a file what it is or does, or of something that it is there. */
function isReported(before: string, after: string): boolean {
  if (OF_TROUBLE.test(before)) return false;
  if (SUBJECT.test(before))
    return (
      LABEL.test(before) ||
      DOES.test(after) ||
      /^ ?:(?! ?(?:yes|no|ok|fine|good|same|nothing)\b)/.test(after)
    );
  const place = before.replace(/\b(?:is|are) /g, '');
  return STATE.test(before) && !LOOKED.test(before) && !ASIDE.test(place);
}

/** Whether a file is said to have become another, or to be where something new is. */
function isChangedState(before: string, after: string): boolean {
  if (!BECAME.test(after)) return false;
  const ahead = before.replace(/ (?:is|are) (?:\w+ )?(?:in|at) $/, '');
  return (
    !ASIDE.test(`${ahead.trimEnd()} `) &&
    !/^\)? (?:is|are) (?:\w+ )?(?:[a-z]+ed|written|built|made) by /.test(after) &&
    !/^\)? (?:is|are) (?:written|saved|generated|stored|created|copied|moved|produced|rebuilt|sent|exported) (?!and\b)[a-z]/.test(
      after,
    )
  );
}

/** Behind a file: it was not that one, or only the model. */
const IS_NONE =
  /^ as (?:the|an?|my|its)\b|^(?:,? (?:and|or|,) ‹f\d+›)* (?:not\b|(?:is|are|was|were)(?: not|n't)\b|stay|remain|unchanged|untouched)/;

/** Whether a verb of change takes a file for its object, or for the place where it was done. */
function isObjectOf(verb: string, between: string, after: string): boolean {
  if (between.length > 200 || LOOKED.test(between)) return false;
  const isParenthesis = between.endsWith('(') && !/\b(?:see|like|as|e\.g\.)\b/.test(between);
  if (isParenthesis) return true;
  const relation = between.replace(OUT_OF.test(verb) ? / from /g : /$^/g, ' in ');
  return !ASIDE.test(`${relation.trimEnd()} `) && !isEntry(verb, after) && !IS_NONE.test(after);
}

/** Whether a file is what was entered in, or taken out of, something else. */
function isEntry(verb: string, after: string): boolean {
  return (
    (TO_A_LIST.test(verb) && /^ (?:from|to|in|into) [^‹.,]{0,60}‹/.test(after)) ||
    /^ (?:from|in) [^‹.,]{0,60}‹f/.test(after) ||
    /^ (?:from|to|in|into) [^‹.,]{0,60}(?:list|array|config|section|exports?|imports?)/.test(
      after,
    ) ||
    /^[ -](?:imports?|references?|links?|mentions?|entry|entries|usages?|paths?)\b/.test(after)
  );
}
