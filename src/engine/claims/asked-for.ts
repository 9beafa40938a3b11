/**
 * What a prompt asks for: `work`: something is to be changed or run; `report`: to look and tell; `words`: a
 * plan, or another text in which nothing has to be so.
 */
export type Asked = 'work' | 'report' | 'words';

/** Characters of a prompt that are looked at. */
const LOOKED_AT = 8_000;

const WORK =
  '(?:creat(?:e|ing)|write|add|implement|fix|edit|modify|update|change|refactor|rename|move|delete|remove|replace|convert|migrate|port|install|set up|setup|configure|generate|build|bump|upgrade|downgrade|clean|format|extract|split|merge|rebase|commit|apply|revert|restore|append|insert|scaffold|introduce|rewrite|optimi[sz]e|speed up|improve|make(?! sure (?:to|you)| (?:a|an) (?:list|note|summary))|get (?:the|it|all)|run|execute|deploy|patch|resolve|address|handle|wire|hook|integrate|enable|disable|bring|drop|deprecate|annotate|save|store|put|record|document|finish|complete|ship|land|tidy|simplify|harden|tweak|adjust|correct|repair|sort|test|verify|validate|pin|unpin|switch|turn|expose|export|register|produce|prepare|cover|type|lint|redo|inline|dedupe|deduplicate|unify|consolidate|stop|support|publish|release|tag|solve|trim|strip|archive|copy|sync|regenerate|kill|purge|hook|wrap)';
const TEXT =
  '(?:report|summary|list|overview|note|notes|findings|analysis|paragraph|answer|table|bullets?|sentences?|conclusion|results?|explanation)';
const REPORT =
  '(?:explore|summari[sz]e|review|describe|explain|analy[sz]e|audit|list|find|search|locate|look|investigate|research|identify|determine|tell|check (?:whether|if|what|which|how|where|why|who)|what|which|how|why|where|who|when|is|are|does|do (?:we|any|the(?! (?:task|work|job|rest|changes?|following|migration|refactor\\w*|same)\\b))|did|has|have(?! (?:an?|the|two|three|four|some|one|another|each|your|sub\\w*|\\d+|agents?)\\b)|report|map|trace|count|compare|evaluate|assess|inspect|examine|show|figure out|understand|walk|give|answer|read|study|survey|collect|gather|catalog(?:ue)?|inventory|grep|scan|go through|diagnose|see (?:if|whether|what)|get (?:an overview|a list)|provide an?|return|quote|dig|learn|recap)';
/** What may stand in front of what is asked. */
const OPENING =
  "^(?:[\\s\\d)*#>\"'-]|please|also|next|finally|first|afterwards|can you|could you|would you|i(?:'d| would)? (?:want|need|like) you to|your task is to|your job is to|task|goal|quickly|carefully|briefly|thoroughly|now|just|so|to)*";
const STARTS_WORK = new RegExp(
  `${OPENING}${WORK}\\b(?! (?:a |an |the |up |your |me |short |brief |concise |detailed |one[- ])*${TEXT}\\b(?! (?:\\w+ ){0,6}(?:to|in|into|at|as|under) \\S))`,
  'i',
);
const STARTS_REPORT = new RegExp(`${OPENING}${REPORT}\\b`, 'i');
/** Sentences and their parts: each may ask for something. */
const PARTS = /[.!?:;,\n]+|\b(?:and|then)\b/i;
const LONGEST_PART = 200;
const PLAN =
  /^(?:\W|please|can you|could you|your task is to|task:)*\s*(?:plan|design|propose|suggest|recommend|sketch|outline|think (?:about|through)|come up with|brainstorm|translate|rephrase|paraphrase|imagine|pretend|role-?play|draft a|(?:write|create|prepare|make|produce|compose|give me)(?: me| us| up)?(?: a| an| the)? ?(?:[\w-]+ ){0,3}(?:plan|proposal|strategy|commit message|message|poem|haiku|limerick|e-?mail|letter|tweet|post|story|joke|essay|headline|announcement|release notes|description|slogan|tagline|roadmap)\b(?! [^.]{0,40}(?:\b(?:to|in|into|at|as) )?`?[\w/-]+\.(?:md|txt|json|ya?ml|html)\b))/i;
/** A text that is to stand in a file. */
const INTO_A_FILE =
  /^(?:\W|please|can you|could you)*(?:translate|rephrase|paraphrase|write|create|prepare|make|produce|compose|draft)\b[^\n]{0,100}? (?:in|into|to|at|as|under) (?:the )?[`"']?[\w@./-]*[\w)]\.[a-z]{1,5}\b/i;
const HANDS_OFF =
  /\b(?:do not|don't|without|no need to|never)\b[^.]{0,30}\b(?:chang\w+|modif\w+|edit\w*|writ\w+|touch\w*|fix\w*)\b|\bread[- ]only\b/i;

export function askedFor(prompt: string): Asked {
  const text = prompt.slice(0, LOOKED_AT).trim();
  const start = text.slice(0, LONGEST_PART);
  if (PLAN.test(start)) return INTO_A_FILE.test(start) && !HANDS_OFF.test(text) ? 'work' : 'words';
  const parts = text.split(PARTS).map((part) => part.slice(0, LONGEST_PART));
  const isReport = parts.some((part) => STARTS_REPORT.test(part)) || text.endsWith('?');
  if (!isReport) return 'work';
  if (HANDS_OFF.test(text)) return 'report';
  return parts.some((part) => STARTS_WORK.test(part)) ? 'work' : 'report';
}

/** Whether a prompt is about what has happened to files: its answer then tells of others' changes. */
export function asksForHistory(prompt: string): boolean {
  return /\b(?:commits|last commit|history|git (?:log|diff|show|blame)|diff|pull request|PR|changelog|release notes|what (?:has )?changed|changes (?:since|between|in|on)|recent changes)\b/i.test(
    prompt.slice(0, LOOKED_AT),
  );
}

/** Whether a prompt's work needs tools: it is about files, code or commands, not about a text to write. */
export function needsTools(prompt: string): boolean {
  const text = prompt.slice(0, LOOKED_AT);
  return (
    /[\w)]\.(?:[a-z]{1,5})\b|\w\/\w|`[^`]+`/.test(text) ||
    /^(?:\W|please|now)*(?:implement|refactor|fix|deploy|install|migrate|delete|rename|commit|upgrade|debug|patch|optimi[sz]e|clean up|add|remove|set up|update|replace|bump|revert)\b/i.test(
      text,
    ) ||
    /\b(?:files?|director(?:y|ies)|folders?|repo\w*|code ?base|project|test suite|tests|lint\w*|bugs?|classes|modules?|packages?|dependenc\w+|endpoints?|component|script|database|migrations?|branch|server|readme|workflow|imports?|handler|routes?|cli|app)\b/i.test(
      text,
    )
  );
}
