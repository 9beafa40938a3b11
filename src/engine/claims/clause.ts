import { fileNamed, pathNamed } from './file-names.ts';
import { commandNamed, PLAIN_COMMAND } from './named-commands.ts';
import type { Statement } from './statements.ts';

/**
 * A statement as the rules read it: files stand in it as `‹f0›`, commands as `‹c0›`, other code as `‹x›`,
 * quotes as `‹q›`, so that no rule meets the words of one. In lower case: so are the rules.
 */
export interface Clause extends Statement {
  /** As it stands in the answer, for whoever is told. */
  readonly said: string;
  readonly files: readonly string[];
  readonly commands: readonly string[];
}

const CODE = /`+([^`\n]{1,300})`+/g;
const QUOTE = /"[^"\n]{1,300}"|“[^”\n]{1,300}”|(?<=^|[\s(])'[^'\n]{2,300}'(?=$|[\s,.;:!?)])/g;
/** Quotes that a check may end with. */
const GOOD_NEWS =
  /^.\W*(?:success|(?:all|\d+) (?:\w+ )?(?:pass|ok)|no (?:\w+ )?(?:issues?|errors?|problems?|changes|warnings?)|ok\b|pass|build success|done|0 )/i;
const LINK = /\[([^\]\n]{1,200})\]\([^)\n]{1,400}\)/g;
const MARKUP =
  /\*{1,3}|~~[^~]{1,200}~~|(?<=^|\s)_{1,2}(?=\S)|(?<=\S)_{1,2}(?=$|[\s.,;:!?])|<\/?[a-z]{1,10}>/g;
const GOOD_MARK = /[✅✔☑🎉✓🟢👍🚀✨]\ufe0f?/gu;
const WORD = /[^\s,;‹›()"'“”]+/g;

export function clauseOf(statement: Statement): Clause {
  const files: string[] = [];
  const commands: string[] = [];
  const placeholder = (word: string): string | null => {
    const file = fileNamed(word);
    if (file !== null) return `‹f${files.push(file) - 1}›`;
    const command = commandNamed(word);
    return command === null ? null : `‹c${commands.push(command) - 1}›`;
  };
  const text = statement.text
    .replace(/[‹›]/g, "'")
    .replace(LINK, '$1')
    .replace(CODE, (_, code: string) => {
      const path = pathNamed(code.trim());
      if (path !== null) return `‹f${files.push(path) - 1}›`;
      return placeholder(code.trim()) ?? '‹x›';
    })
    .replace(MARKUP, '')
    .replace(
      QUOTE,
      (quote) => placeholder(quote.slice(1, -1).trim()) ?? (GOOD_NEWS.test(quote) ? '‹ok›' : '‹q›'),
    )
    .replace(GOOD_MARK, ' ok-mark ')
    .replace(/[’]/g, "'")
    .replace(PLAIN_COMMAND, (command) => placeholder(command) ?? command)
    .replace(WORD, (word) => plainFile(word, placeholder))
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
  const under = statement.under.map((each) => each.toLowerCase());
  return { ...statement, under, text, said: statement.text, files, commands };
}

/** A file outside of code may be followed by a full stop, and stand in brackets. */
function plainFile(word: string, placeholder: (word: string) => string | null): string {
  if (!/[./]|^[A-Z]\w+$/.test(word) || /^https?:|^www\./.test(word) || word.includes('@'))
    return word;
  const bare = word.replace(/[.:!?]+$/, '');
  return fileNamed(bare) === null ? word : `${placeholder(bare) ?? bare}${word.slice(bare.length)}`;
}

/** Between a subject and its verb, or before a verb without one. */
export const ADVERB =
  "(?:also|then|now|just|next|finally|first|second|third|last|lastly|subsequently|both|all|already|only|fully|successfully|and|either|again|therefore|thus|thereby|have|has|'ve|had|been|been able to|managed to|went ahead and|proceeded to|gone ahead and|[a-z]+ly)";

/** What may stand in front of a statement without changing who says it. */
const OPENING = new RegExp(
  `^(?:[^\\w‹]|ok-mark|(?:${ADVERB}|ok|okay|done|yes|great|perfect|sure|alright|good|complete|completed|finished|success|summary|result|results|status|outcome|update|note|final|task|here|step|\\d+|what i did|as requested|as asked|per your request|in summary|in short|to summarize|overall|after that|afterwards|in addition|additionally|furthermore|moreover|for this|to do this|along the way|that done|with that|changes|change|work|fix|fixed|implementation|verification|validation|testing|tests|deliverable|deliverables|files?|docs|documentation|code|refactor|cleanup|feature)(?![\\w-]))*$`,
);

export function isOpening(text: string): boolean {
  return text.length < 160 && OPENING.test(text);
}

/** Words that make of what follows a wish, a plan, a condition, a question or something not done. */
const HEDGE =
  /\b(?:not|never|no|nothing|none|neither|nor|without|cannot|can|could|couldn|should|shouldn|would|wouldn|may|might|must|will|won|shall|going to|plan|plans|planned|planning|intend|intended|need|needs|needed|if|unless|once|when|whenever|until|before|assuming|suppose|supposedly|ideally|please|recommend|recommended|recommendation|suggest|suggested|suggestion|consider|propose|proposed|try|tried|trying|attempt|attempted|attempting|fail|failed|unable|wanted|want|wants|hope|expected|expect|example|instead|rather than|were to|to be|let|let's|you|your|user|they|their|he|she|his|her|someone|somebody|who|whose|which|he's|previously|originally|formerly|earlier|historically|yesterday|todo|dry run|dry-run|simulated|pretend|imagine|hypothetical|hypothetically|refused|denied|blocked|skipped|avoid|avoided|forgot|looks like|seems?|seemed|appears?|appeared|apparently|at some point|believe|probably|likely|presumably|about to|ready to|supposed to|asked|requested to|wherever|claims?|says|said|states|stated|according to|reports? that|reported|documented that|mentions|upstream|why|how|whether)\b|n't\b|'ll\b|'d\b|❌|✗|✘|⚠/u;

export function isHedged(text: string): boolean {
  return HEDGE.test(text);
}

/** Says when, where or by whom else it was done. */
const ATTRIBUTED =
  /\b(?:in|by|from|since|with|via|of) (?:the |a |an |this |that )?(?:(?:last|latest|previous|prior|earlier|recent|same|initial|first|second|original|head|most recent) )*(?:commits?|pr|prs|pull requests?|merge|release|versions?|v\d|session|migration from|branch|upstream|predecessor|‹x› commit)\b|#\d+\b|\b(?:last|previous|prior) (?:week|month|year|commit|release|session|task|run|turn|sprint|quarter)\b|\bago\b|\b(?:in|on|since|around|during) (?:(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\w* )?(?:\d{1,2},? )?(?:19|20)\d\d\b|\bback in\b|\b[0-9a-f]{7,40}\b|\bat (?:runtime|startup|build time|compile time)\b|\bevery (?:time|run|build|request)\b|\beach (?:time|run|build|request)\b|\byesterday\b|\bthe (?:author|maintainers?|team|user|previous developer)\b|\bgit (?:log|blame|history|diff|status|show)\b|\bhistory\b|\b(?:working tree|uncommitted|staged|unstaged|untracked)\b/;

export function isAttributed(text: string): boolean {
  return ATTRIBUTED.test(text);
}

/** Headings over what was not done, or not by the answerer. */
const ELSEWHERE =
  /\b(?:recommend\w*|suggest\w*|propos\w*|next steps?|follow[- ]?ups?|todos?|to[- ]do|plan|planned|planning|roadmap|future|could|should|would|will|must|needs?|needed|required|requirements?|if you|you can|how to|usage|instructions?|history|commits?|changelog|change log|release notes|git|diff|pr|pull request|recent changes|branch|upstream|acceptance|criteria|test plan|definition of done|expected|example|examples|options?|alternatives?|before you|steps to|not (?:done|implemented|changed|run|included|covered|completed|tested)|remaining|pending|outstanding|left|skipped|blocked|unable|failed|issues?|findings|problems|risks?|concerns|limitations|open questions|questions|background|context|overview|architecture|how it works|existing|current (?:state|behaviou?r)|previously|original|quoted?|log|output|ci|pipeline|workflow|stage[sd]?|uncommitted|untracked|draft|manual|prerequisites?|to reproduce|reproduction|checklist|candidates?|flow|lifecycle|behaviou?r|script)\b/;

/** Whether a statement stands under a heading that makes it no account of work. */
export function standsElsewhere(under: readonly string[]): boolean {
  return under.some((each) => ELSEWHERE.test(each) && !/\b(?:i|i've|we|we've)\b/.test(each));
}
