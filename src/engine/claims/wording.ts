import type { Statement } from './statements.ts';

/** Past tenses that change nothing. Any other counts as a change: of those there are too many to list. */
const CHANGES_NOTHING =
  'checked|double-checked|tracked|versioned|looked|reviewed|inspected|examined|searched|scanned|analy[sz]ed|explored|opened|considered|compared|noticed|confirmed|verified|validated|tested|re-?tested|profiled|measured|used|called|imported|listed|needed|wanted|tried|attempted|skipped|ignored|excluded|preserved|retained|expected|based|located|identified|discovered|investigated|traced|followed|counted|planned|proposed|suggested|recommended|asked|referenced|mentioned|failed|passed|decided|limited|related|affected|required|assumed|named|titled|supposed|intended|cached|defined|declared|described|(?:documented|registered|configured|stored|mounted|exported|wired(?: up)?|hooked up) (?:in|at|from)|reported|claimed|quoted|installed|committed|pushed|logged|printed|returned|started|exited|finished|executed|launched|triggered|seemed|appeared|happened|worked|succeeded|completed|relied|studied|read|red|unused|untouched|unchanged|unrelated|deprecated|nested|shared|detailed|detected|observed|caused|exhausted|exceeded|outdated|overloaded|duplicated|coupled|tied|missed|covered|matched|stayed|remained|noted|remembered|understood|acknowledged|agreed|stopped|paused|halted|waited|complained|warned|objected|learned|believed|promised|indeed|need|speed|feed|seed|embed|exceed|proceed|succeed|bed|shed|feedback';
/** Past tenses without an ending. */
export const IRREGULAR =
  'wrote|written|rewrote|rewritten|overwrote|overwritten|made|built|rebuilt|put|split|set|cut|took|taken|got rid of|gone|brought|drew|undid|redid|swapped|hid|wound|tore|threw|broke|taught|given|sent|bound|fed|laid|shrank|shrunk|lost|became|grew|sped up|kept .{1,40} in sync';
/** A past tense that tells of a change. */
export const CHANGED = `(?:(?!(?:${CHANGES_NOTHING})\\b)(?:[a-z]+-)?[a-z]{2,}ed|${IRREGULAR})(?! (?:no|none|nothing|neither)\\b)`;
/** Between a subject and its verb, or in front of a sentence. */
export const ADVERB =
  '(?:also|then|now|just|next|first|second|both|all|either|too|have|has|had|been|went ahead and|gone ahead and|proceeded to|[a-z]+ly|done|so|and|yes|ok|okay|great|perfect|in addition|afterwards|additionally|furthermore|as requested|as asked|instead|there)[,:.!]?';

/** In front of what is told, or behind it, these make of it what was not done. */
const DENIES =
  /\b(?:not|never|nothing|none|nobody|neither|nor|without|cannot|would|should|may|might|could|will|won|shall|going to|please|(?<!for )you|unable|skipped|left|leaves?|leaving|kept|keeps?|unchanged|untouched|unmodified|as is|as-is|remains?|un(?:tested|verified|resolved|fixed)|still|except|apart from|let's|gave up|gives up|used to|would-be|seems?|probably|likely|presumably|apparently|according to|(?:reports?|states?|tells?|told me|thinks?) that|claims?|says?)\b|^(?:so that|that (?!pass|work|succe|build|compil)|because|since|as|whereas|rather than|instead of)\b|n't\b|'ll\b|'d\b|[❌✗✘⚠]/u;
/** In front of a verb these make of it a wish, a plan, a condition or a failure. */
const HEDGES =
  /\b(?:no|can|must|plans? to|planned|intend\w*|needs?|needed|if|unless|once|when(?:ever)?|until|before|assuming|recommend\w*|suggest\w*|consider|propos\w*|tried(?! (?:it|them|both|that|this|all|out)\b)|trying|attempt\w*|fail\w*|wants?|wanted|hope|expect\w*|previously|originally|formerly|earlier|supposed|refused|denied|blocked|forgot|only (?:read|looked)|whether|why|how to|to be)\b/;
/** Says of a file in a list of changes that it is none. */
const UNCHANGED =
  /\b(?:unchanged|untouched|left|kept|keeps? (?:its?|the same|as)|stays?|remains?|already|skipped|no (?:changes?|need|edits?)|not (?:\w+ )?(?:[a-z]+ed|done|yet|necessary)|(?:did|does|has|have|was|were|is|are|need)(?: not|n't)|would|should|could|to do|todo|pending|still|read[- ]only|for reference|same as before|nothing|out of scope)\b|¦ (?:no|none|n\/a|-)(?= |,|$)|[❌✗✘⚠?]/u;
/** Says when, where or by whom else it was done. */
const HISTORY =
  /\b(?:commits?|pull requests?|pr|prs|#\d+|release|upstream|branch|history|ago|yesterday|(?:last|previous|prior) (?:week|month|year|release|session|run|time|sprint)|(?:in|since) (?:(?:january|february|march|april|may|june|july|august|september|october|november|december) )?(?:19|20)\d\d|the (?:author|team|user|maintainers?)|working tree|(?:un)?staged|untracked|at (?:runtime|startup)|on (?:startup|boot|every|each)|every time|each time|[0-9a-f]{7,40})\b/;
/** Headings over what was not done, or not by the answerer. */
const ELSEWHERE =
  /\b(?:recommend\w*|suggest\w*|propos\w*|next|follow[- ]?ups?|todos?|read|inspected|viewed|to[- ]do(?! (?:this|that|so|it)\b)|plan|planned|future|could|should|would|will|must|needs?|needed|required|if you|you|how to|usage|use|instructions?|history|commits?|release notes|pull request|upstream|criteria|expected|examples?|options?|alternatives?|not|n't|doesn't|remaining|pending|outstanding|left|skipped|blocked|unable|failed|issues|findings|problems|risks?|limitations|questions|existing|current|previously|original|unchanged|untouched|before|log|output|reproduc\w+|candidates?|why)\b/;
const SENTENCES_AHEAD = /\n.*[.!?] (?=.)/;

/** Of the line that leads into a list the last sentence says what the list is, if none denies it before. */
function isElsewhere(under: string): boolean {
  const plain = under
    .replace(SENTENCES_AHEAD, '\n')
    .replace(/\([^()]{0,100}\)|\bbefore\b(?=.*\bafter\b)/g, '');
  return ELSEWHERE.test(plain) || DENIES.test(SENTENCES_AHEAD.exec(under)?.[0] ?? '');
}

/** Whether nothing is claimed by a part of a statement; `verbEnd`: where its verb ends. */
export function isVetoed(part: string, verbEnd = part.length): boolean {
  return isDenied(part, verbEnd) || isHistory(part);
}

/** Whether it is negated, hedged or only planned. */
export function isDenied(part: string, verbEnd = part.length): boolean {
  return DENIES.test(part) || HEDGES.test(part.slice(0, verbEnd));
}

/** Whether a part tells of what was done by others, or at another time. */
export function isHistory(part: string): boolean {
  return HISTORY.test(part) && !/\b(?:i|we)(?:'ve)?\b/.test(part);
}

/** Whether a list item says of its file that it was not changed. */
export function saysUnchanged(item: string): boolean {
  return UNCHANGED.test(item);
}

/** Whether a statement is no account of work as a whole. */
export function isNoAccount(
  { text, under }: Statement,
  { isFirst }: { readonly isFirst: boolean },
): boolean {
  return (
    text.endsWith('?') ||
    /\balready\b|\b(?:says?|reports?|states?|claims?|tells?) that\b/.test(text) ||
    (isElsewhere(under) && !text.startsWith('✓')) ||
    /^(?:if|when|once|unless|to (?![^,]{0,60}, (?:i|we)\b)|before|until|should|after (?:you|[^,]{0,30}\b(?:ran|runs|starts|is|was)\b)|whenever|next|please|let)\b|^(?:run|use|set|put|make|write|create|add|update|delete|remove|replace|move|rename|install|start|open|check|call|consider|try|edit|change|extend|keep)\b(?! ¦|:| sites?\b)/.test(
      // No answer begins with a step to take: what reads the same in the past is past there.
      isFirst
        ? text.replace(/^(?:set|put)\b(?!.* to (?:see|get|have|try|enable|turn|make)\b)/, '')
        : text,
    )
  );
}

/** Verbs that only look, as far as words tell. */
export const LOOKED = new RegExp(`(?<!\\b(?:the|a|an|any|its) )\\b(?:${CHANGES_NOTHING})\\b`);

/** Where a new assertion begins: what is negated or hedged in one says nothing of its neighbours. */
const BREAK = new RegExp(
  `; | [—–-] |(?<!‹f\\d+›): (?=(?:the|i|we|all|it|${ADVERB}|${CHANGED})\\b|‹c\\d+› [a-z])|,? (?:but|which|while|although|though|so(?! that)|however) |, (?=‹f\\d+› [a-z]+s |‹c\\d+›:? [a-z\\d]|(?:all )?(?:tests?|specs?|build|lint\\w*|types?|type ?check\\w*)(?: run)?:? (?:is |are )?(?:also )?(?:ok|green|clean|pass|fine))|(?<!verified|confirmed|checked|ensured|sure|validated) (?=that )| (?=(?:rather than|instead of) )|,? (?=(?:since|because|whereas|so that) )|, (?=as (?!well))|, and (?=(?:locally |there )?‹c\\d+› [a-z]|(?:after|now|with|afterwards)\\b)|,? and (?=(?:${ADVERB} )*(?:i|we|it|they|that|nothing|everything|(?:the|all|no) [^,‹]{0,30}(?:pass\\w*|is|are|was|were)|did|do|have|has|${CHANGED}|ran|re-?ran|checked|verified|confirmed)\\b)|, (?=(?:${ADVERB} )*(?:i|we|it|they|no|not|nothing|everything|the|all|${CHANGED}|ran|re-?ran|checked|verified|confirmed)\\b)`,
);

/** The assertions of a statement. */
export function partsOf(text: string): readonly string[] {
  return text
    .split(BREAK)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
