/** Characters of a prompt that are looked at. */
const LOOKED_AT = 8_000;
const OPENING =
  "^(?:[\\s\\d)*#>\"'.:-]|please|also|ok|now|next|finally|first|hey|hi|can you|could you|would you|(?:i(?:'d| would)? (?:want|need|like) )?you to|your (?:task|job) is to|task|goal|quickly|carefully|briefly|just|so|let's|help me)*";
/** Verbs of work, without what may end them. */
const WORK_STEMS =
  'creat|writ|add|implement|fix|edit|modif|updat|chang|refactor|renam|mov|delet|remov|replac|convert|migrat|port|install|set up|configur|generat|build|bump|upgrad|clean|format|extract|split|merg|rebas|commit|appl|revert|restor|append|insert|scaffold|introduc|rewrit|optimi[sz]|speed|improv|mak|get|run|execut|deploy|patch|resolv|address|wir|hook|integrat|enabl|disabl|drop|tidy|simplif|adjust|correct|repair|test|verif|sav|stor|put|document|swap|switch';
const LOOK = new RegExp(
  `${OPENING}(?:explore|summari[sz]e|review|describe|explain|analy[sz]e|audit|list|find|search|locate|look|investigate|research|identify|determine|tell|what\\w*|which|how|why|where|who|when|is|are|does|do|did|has|have|should|show|map|trace|count|compare|evaluate|assess|inspect|examine|figure out|understand|walk|give|answer|quote|reply|respond|say|repeat|acknowledge|(?:(?!(?:${WORK_STEMS})\\w*|record\\w*)[\\w-]+ ){0,4}(?:review|analysis|opinion|overview|explanation|summary)|guess|estimate|(?:(?:a|some) )?(?:second|fresh|another|more)? ?(?:pair of |set of )?eyes|sanity|feedback|remember|note that|keep in mind|read|study|survey|diagnose|suggest|propose|recommend|plan|critique|critici[sz]e|judge|rate|proofread|comment on|design|outline|think|draft|brainstorm|imagine|translate this|git (?:status|log|diff)|check (?:whether|if|what|which|how|where|why|who|the|for|that|my|our|this|these|all|it|an?)|code review|opinion|thoughts|(?:write|compose|prepare|create|generate|make)(?: me| us)?(?: (?:an?|the|some|our|my))? (?:(?!that |which |for )[\\w-]+ ){0,3}(?:plan|proposal|message|poem|haiku|(?:e-?)?mail|letter|repl(?:y|ies)|answer|tweet|post|story|joke|essay|announcement|notes?|description|summary|report|overview|comparison|regex\\w*|(?:[\\w-]+ )?one-liner|snippet|slogan|names?|titles?))\\b`,
  'i',
);
const WORK = new RegExp(`${OPENING}(?:${WORK_STEMS})(?:e|ing|y|t?ting|ping)?\\b`, 'i');
/** Sentences and their parts: each may ask for something. */
const PARTS = /[.!?;,\n]+(?=\s|$)|\b(?:and|then)\b/i;
/** A text that is to stand in a file. */
const INTO_FILE =
  /(?<!\b(?:the|an?|this|that|our|my|new|current)(?: \w+)? )\b(?:writ|sav|put|creat|add|record|draft|stor|dump|translat)\w*\b(?:[^.\n]|\.(?=\d)){0,100}(?:\w\.[a-z]{1,5}\b| file\b)/i;
const HANDS_OFF =
  /\b(?:do not|don't|without|never)\b[^.\n]{0,30}\b(?:chang\w+|modif\w+|edit\w*|writ\w+|touch\w*|fix\w*)\b|\bread[- ]only\b/i;

/** A text that nobody runs, and which is the answer. */
const TEXT = new RegExp(`${OPENING}(?:write|draft|compose)\\b`, 'i');
const OF_CODE =
  /\b(?:(?:unit|e2e|\w*)tests?|specs?|functions?|class|modules?|scripts?|migrations?|components?|helpers?|hooks?|parsers?|files?|docs?|documentation|docstrings?|readme|code|programs?|quer(?:y|ies)|endpoints?|handlers?|routes?|config\w*|workflows?|\w+file|schemas?|types?|benchmarks?|fixtures?|plugins?|commands?|tools?|pages?|templates?|changelog|adapters?|clients?|servers?|api|middleware|methods?|implementations?|wrappers?|cli|librar\w+|jobs?(?! ad)|tasks?|rules?|services?|views?|controllers?|models?|validators?|adrs?|rfcs?|documents?|guides?|runbooks?|tutorials?|manuals?|it|them|that|so)\b|[.]\w|\w\/\w|`/i;

/** What may be done by a command, and leave no trace in files. */
const RUN = new RegExp(
  `${OPENING}(?:run|re-?run|execut|deploy|test|verif|validat|check|mak(?:e|ing) sure|ensur|commit|push|pull|build|install|rebas|merg|tag|releas|generat|format|lint|start|stop|restart|open|clean|delegat|reproduc|profil|measur)(?:e|ing|y|t?ting|ping)?\\b`,
  'i',
);

/** Asks how a run goes, and not how to do it. */
const HOW_A_RUN_GOES = new RegExp(
  `${OPENING}(?:run|execute|try|(?:check|verify|validate|confirm|see|test|does|do|is|are|find out|make sure|ensure)\\b.{0,80}\\b(?:builds?|compiles?|compiling|pass(?:es|ing)?|green|tests?|suite|lint\\w*|type-?checks?|starts?|works?))\\b`,
  'i',
);

/** What a prompt asks for. */
export interface Asked {
  /** To change or to run something, and not only to look and tell, or for a mere text. */
  readonly isWork: boolean;
  /** For work that leaves something changed. */
  readonly isChange: boolean;
  /** To run something, or to see how that goes. */
  readonly isRun: boolean;
  /** For work, in more than a word or two. */
  readonly isPlain: boolean;
}

export function askedFor(prompt: string): Asked {
  const text = prompt
    .slice(0, LOOKED_AT)
    .replace(/\([^()]{0,200}\)/g, '')
    .trim();
  const parts = text.split(PARTS).map((part) => part.trim().slice(0, 200));
  const work = parts.filter(
    (part) => INTO_FILE.test(part) || (WORK.test(part) && !isLooking(part)),
  );
  const isLook =
    text.endsWith('?') || parts.some((part) => isLooking(part) && !INTO_FILE.test(part));
  const isWork = work.length > 0 ? !(isLook && HANDS_OFF.test(text)) : !isLook;
  const isPlain = isWork && (work.length > 0 || parts.join(' ').split(' ').length >= 2);
  return {
    isWork,
    isPlain,
    isRun: parts.some((part) => HOW_A_RUN_GOES.test(part)),
    isChange: isPlain && ((!isLook && !RUN.test(text)) || work.some((part) => !RUN.test(part))),
  };
}

function isLooking(part: string): boolean {
  return LOOK.test(part) || (TEXT.test(part) && !OF_CODE.test(part));
}
