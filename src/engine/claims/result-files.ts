import { CHANGED } from './change-verbs.ts';
import { listFrom, names, VERBS, type FileClaim } from './changed-files.ts';
import { ADVERB, isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import { speakerAt } from './speaker.ts';

/**
 * Files that a clause tells to be otherwise than before, in whatever words: what was done to them as a
 * participle, a state they are in now, a place where a change stands, a list under a line that tells of work.
 */
export function resultFiles(clause: Clause): readonly FileClaim[] {
  const { text, files, under } = clause;
  if (files.length === 0 || text.endsWith('?') || standsElsewhere(under)) return [];
  const found = [...new Set([...said(clause), ...(isAttributed(text) ? [] : told(clause))])];
  return found.map((at) => ({ oneOf: names(files, [at]), isFirstPerson: false }));
}

const FILES = '((?:‹f\\d+›(?: ?\\([^()]{0,60}\\))?(?:,? and |, (?:and )?|,? plus | & | |)){1,12})';
const STARTS = `^(?:[^a-z‹]|ok-mark|${ADVERB}|the|all|both|new|file|module|script|migration|test|and|so|done|fixed)*`;
const IN =
  '(?:in|into|to|at|under|across|inside|within|from)(?: the| both| all| a| an| new| file| files)*';
const END =
  '(?=$|[.,;:!)]| (?:and|with|so|to|for|accordingly|as|in|using|via|by hand|which|ok-mark|—|–|-) ?)';

/** What is told of files at the start of a clause or behind a comma. */
const OF_SUBJECTS: readonly RegExp[] = [
  // `A and B were adapted`, `C updated accordingly`, `D: created`.
  new RegExp(
    `(?:${STARTS}|: |; |, |\\band (?:the )?)${FILES}(?: files?| modules?)?(?: were| was| have been| has been| are now| is now)? ?(?:now |both |all |also |since |then |${ADVERB} )*(?:${VERBS}|brought up to date)${END}`,
  ),
  new RegExp(
    `${STARTS}${FILES}(?: files?| modules?)? (?:are|is) (?:now |both |all |also |${ADVERB} )*(?:${VERBS}|brought up to date)${END}`,
  ),
  new RegExp(
    `(?:${STARTS}|: |; |, |\\band (?:the )?)${FILES}(?: files?| modules?)? (?:are|is|have been|were) (?:now |both |all |also |${ADVERB} )*(?:gone|in place|up to date|no more)${END}`,
  ),
  // `A and B now import it`, `C imports it now`.
  new RegExp(`${STARTS}${FILES} now (?!only used|unused)[a-z]+`),
];
/** As in `The parser fix is in A and the printer fix in B`. */
const STANDS_IN =
  /(?:^|, |; |: |\band )(?:the |a |both |all )?(?:[\w-]+ ){0,3}?(?:fix|fixes|changes?|implementation|new [\w-]+)(?: (?:for|of) [^.:;,‹]{1,40})?(?: (?:is|are|lives?|sits?|can be found|went))? (?:now )?(?:in|into|at|under) (?:the )?(?:new )?‹f(\d+)›/g;
/** A change that stands in front of the files it was made in: `Minimum version bumped to 3.10 in A, B and C`. */
const PARTICIPLE = new RegExp(
  `^[^a-z‹]*(?:(?!is\\b|are\\b|was\\b|were\\b|that\\b|which\\b|when\\b|i\\b|we\\b|you\\b|to\\b|it\\b)[^\\s.:;]+ ){1,8}(?:(?:has|have) (?:also )?been |is now |are now )?(${VERBS}|adapted)(?: (?:[^.:;‹]|\\.(?=\\d)){0,50}?)? ${IN} (?=‹f)`,
);
/** `Docs updated ok-mark (FILE)`: brackets that hold files alone. */
const IN_BRACKETS = new RegExp(
  `(?<![\\w-])(?:${VERBS}|adapted|implemented|done|in place)(?: (?!in\\b|for\\b|from\\b|like\\b|by\\b)[\\w/'-]+){0,5} ?(?:ok-mark )?\\(((?:(?:new|and|plus|also|in|see|all in)? ?‹f\\d+›,? ?)+)\\)`,
);
/** `I linked it from FILE`, `added the cron line to FILE`. */
const SAID = new RegExp(
  `(?<![\\w-])${CHANGED} (?:(?!(?:in|into|to|from|for|with|of|on|by|as|using|via|like|that|which|so|because|about|between|against|per|than|after|before|since|see|vs|without|how|what|when|where|why|whether|if)\\b)[^\\s.:;‹]+ ){0,6}(?:in|into|to|from|under|inside|within|across) (?:the |both |a |an |new |our |your |its |root |main |test )*(?=‹f)`,
  'g',
);

/** As in `I added a cache and used it from FILE`. */
const USED_IN = new RegExp(
  `(?<![\\w-])(?:re)?(?:used|referenced|imported|called|registered|mounted|rendered|included|loaded|mentioned|required|invoked) (?:it|them|that|these|this|those|both)(?: now| as well| too)? (?:from|in|by|on|into|within|inside|throughout)(?: the| both| all)* (?=‹f)`,
  'g',
);

function* said(clause: Clause): Generator<number> {
  for (const match of clause.text.matchAll(USED_IN)) {
    if (speakerAt(clause, match.index) !== null)
      yield* listAt(clause.text, match.index + match[0].length);
  }
  for (const match of clause.text.matchAll(SAID)) {
    const speaker = speakerAt(clause, match.index);
    if (speaker === null || (speaker === 'unnamed' && isAttributed(clause.text))) continue;
    if (
      /\b(?:move|extract|cop|port|convert|migrat|split|pull|factor|read|import|deriv|generat|tak|took|renam|replac|merg)\w* .* from /.test(
        `${match[0]} `,
      )
    )
      continue;
    if (
      /\b(?:access|path|route|reference|pointer|according|due|related|compared|back|identical|close|next|prior|attention|relative|links?|pointers?|references?|redirects?|imports?|symlinks?|calls?|section|equivalent|similar|analogous|parallel) to /.test(
        match[0],
      )
    )
      continue;
    yield* listAt(clause.text, match.index + match[0].length);
  }
}

function* told(clause: Clause): Generator<number> {
  const { text } = clause;
  for (const pattern of OF_SUBJECTS) {
    const match = pattern.exec(text);
    if (match === null || !isSure(text, match.index + match[0].length)) continue;
    if (/ by (?!(?:me|us|hand|\w+ing)\b)/.test(text.slice(match.index + match[0].length))) continue;
    for (const [, at] of (match[1] ?? '').matchAll(/‹f(\d+)›/g)) yield Number(at);
  }
  const participle = PARTICIPLE.exec(text);
  if (participle !== null && isSure(text, participle[0].length))
    yield* listAt(text, participle[0].length);
  const brackets = IN_BRACKETS.exec(text);
  if (brackets !== null && isSure(text, brackets.index)) {
    for (const [, at] of (brackets[1] ?? '').matchAll(/‹f(\d+)›/g)) yield Number(at);
  }
  for (const match of text.matchAll(STANDS_IN)) {
    if (isSure(text, match.index + match[0].length)) yield Number(match[1]);
  }
  yield* listed(clause);
}

function isSure(text: string, end: number): boolean {
  const upTo = text.slice(0, end);
  return (
    !isHedged(upTo.replace(/\byour\b/g, 'the')) &&
    !/\b(?:already|still|found|noticed|unchanged|untouched)\b/.test(text)
  );
}

function listAt(text: string, at: number): readonly number[] {
  const first = /^‹f(\d+)›/.exec(text.slice(at));
  return first === null ? [] : listFrom(Number(first[1]), text.slice(at + first[0].length));
}

/** A line that tells of work and leads into a list of where it was done. */
const LEADS = new RegExp(
  `(?:\\b(?:i|we)(?:'ve| have)? (?:${ADVERB} )*${VERBS}|^[^a-z‹]*(?:${VERBS})\\b|\\b(?:has|have) been (?:${ADVERB} )*(?:${VERBS})|\\bnow (?:exists?|live|stand|sit|in)\\b|\\b(?:is|are|were|was) (?:now )?(?:${VERBS}|in place|live|ready|done)\\b|\\bfiles? (?:touched|changed|affected|involved|edited)|\\bwhat (?:has )?(?:changed|i changed|i did|was done|is new)|^[^a-z‹]*(?:changes|deliverables|what (?:i did|changed|was done))\\b).*:\\**$`,
);
/** Behind it stands what was done about them, not where. */
const LEADS_ELSEWHERE =
  /\b(?:for|of|from|cover\w*|test(?:s|ing)|against|checks?|reviewed|looked|found|see|based on|imports?|uses?|by|about|like)(?: the| these| this| all| each| following)*(?: \w+)?:\**$|\b(?:callers|usages|references|findings|issues|questions|endpoints|cases|scenarios|reads?|dependenc\w+)\b.{0,20}:\**$/;
const NOT_CHANGED =
  /^[\s—–:|(→-]*(?:unchanged|no changes?|not|already|existing|read|reviewed|none|untouched|left|skipped|checked|looked|still|ok as|only|was|were|had|has|needs|would|could|should|uses|imports|depends|see)\b/;

function* listed({ text, under, isItem, cells, files }: Clause): Generator<number> {
  const lead = under.at(-1) ?? '';
  if (!isItem || !LEADS.test(lead)) return;
  const isOfTests = /\btests?\b/.test(lead) && files.some((file) => /test|spec/i.test(file));
  if (LEADS_ELSEWHERE.test(lead) && !isOfTests) return;
  if (cells !== null) {
    if (cells[0]?.includes(files[0] ?? '‹') === true && !isHedged(text)) yield 0;
    return;
  }
  const first = /^(?:[^a-z‹]|ok-mark|new |new file |in )*‹f(\d+)›/.exec(text);
  if (first === null) return;
  const after = text.slice(first[0].length);
  if (NOT_CHANGED.test(after) || isHedged(after.slice(0, 80))) return;
  yield* listFrom(Number(first[1]), after);
}
