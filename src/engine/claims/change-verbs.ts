/** Past forms that end otherwise than in `-ed`. */
const IRREGULAR =
  'wrote|written|rewrote|rewritten|made|put|set(?: up)?|split|overwrote|overwritten|cut|built|rebuilt|took|taken|brought|drew|drawn|hid|hidden|undid|undone|redid|redone|broke|broken|swept|wound|got rid of|did away with|gave|given';
/** Those in `-ed` that change nothing, or not what stands behind them. */
const CHANGES_NOTHING =
  'need|red|bed|speed|feed|exceed|proceed|indeed|hundred|embed|breed|seed|check(?:ed)?|double-checked|verified|validated|confirmed|review|reviewed|looked|used|reused|re-used|based|called|named|needed|required|expected|noticed|listed|located|tested|compared|searched|traced|analysed|analyzed|inspected|examined|failed|passed|imported|referenced|mentioned|described|depended|reported|started|skipped|ignored|kept|tried|attempted|wanted|decided|considered|identified|discovered|observed|spotted|noted|flagged|opened|parsed|executed|reproduced|scanned|grepped|counted|measured|profiled|benchmarked|debugged|audited|assessed|mapped|summari[sz]ed|explained|quoted|cited|pointed|walked|followed|studied|explored|investigated|researched|evaluated|queried|fetched|downloaded|loaded|asked|answered|proposed|suggested|recommended|planned|assumed|believed|wondered|learned|realized|realised|determined|diagnosed|narrowed|matched|mirrored|caused|affected|related|shared|nested|involved|included|contained|supported|exited|returned|printed|showed|displayed|logged|stopped|finished|completed|ended|happened|occurred|appeared|seemed|remained|stayed|existed|lacked|missed|agreed|referred|relied|belonged|worked|lived|delegated|assigned|launched|spawned|dispatched|waited|committed|pushed|reopened|browsed|read|surveyed|collected|gathered|consulted|cross-checked|re-checked|rechecked|untouched|unchanged|unmodified|deprecated|outdated|unused|supposed|hoped|aimed|focused|limited|chained|viewed|peeked|skimmed|glanced|judged|ranked|reasoned|thought|left|cloned|visited|linted|compiled|typechecked|type-checked|rendered|played|watched|detected';

/** The past of a verb that changes what stands behind it: any but those known not to. */
export const CHANGED = `(?:(?:${IRREGULAR})|(?!(?:${CHANGES_NOTHING})(?![\\w-]))[a-z]{2,}(?:-[a-z]+)?ed(?: up| out| in| down)?)`;

/** Changes that a prompt may ask for. */
const REQUESTS = `add|adapt|adjust|allow|amend|annotate|append|apply|archive|avoid|backport|bring|bump|change|clean|cherry-pick|collapse|combine|comment out|commit|complete|configure|consolidate|convert|copy|correct|cover|create|cut|decouple|decrease|dedupe|deduplicate|delete|deprecate|disable|document|downgrade|drop|edit|eliminate|enable|encrypt|enforce|ensure|expand|expose|extend|extract|factor out|fill|finish|fix|format|generate|get rid of|guard|handle|harden|hide|hook up|implement|improve|include|increase|initiali[sz]e|inject|inline|insert|install|instrument|integrate|internationali[sz]e|introduce|limit|locali[sz]e|lower|make|mark|memoi[sz]e|merge|migrate|modify|moderni[sz]e|move|normali[sz]e|optimi[sz]e|organi[sz]e|parametri[sz]e|patch|pin|polish|port|prepend|protect|publish|push|put|raise|rebase|record|reduce|refactor|register|remove|rename|reorder|reorgani[sz]e|repair|rephrase|replace|resolve|restore|restructure|revert|rewrite|roll back|sanitize|save|scaffold|secure|seed|separate|set|shorten|shrink|silence|simplify|sort|speed up|split|squash|stop|store|strip|support|suppress|swap|switch|tag|throttle|tidy|tighten|translate|trim|turn|tweak|type|undo|unify|uninstall|unpin|update|upgrade|use|validate|wire|work through|wrap|write|hook|give|rearrange|reword|do the task|do the work|carry out|take care of`;
const ASKED = new RegExp(
  `(?:^|[.!?:;,\\n]|\\b(?:and|then|please|to|agents?|subagents?|you|it|them|helpers?|team|one|each|must|should|directly)) ?(?:[-*\\d.)\\s]*)(?:(?:please|also|then|just|now|first|finally) )*(?:${REQUESTS})\\b`,
  'i',
);
/** What is to be run, or to be sent somewhere. */
const TO_RUN =
  /(?:^|[.!?:;,\n]|\b(?:and|then|please|to)) ?(?:please |also |then |just )*(?:run|execute|start|launch|publish|deploy|commit|push|install|release|tag|merge|rebase|squash|load|seed|build|compile|benchmark|format|restart)\b/i;
/** A wish, or what is wrong, told instead of asked. */
const WISHED =
  /\b(?:we|i)(?:'d| would)? (?:need|want|like) (?:a|an|the|to have|it|this|that|some)\b|\bshould (?:not |now |also )?(?:be|have|support|accept|return|use|print|show|allow|log|fail|reject)\b|\b(?:is|are) broken\b|\b(?:does not|doesn't|don't) work\b|\bcrash(?:es|ing)\b|\bsort (?:it|this|that) out\b/i;
const LOOKED_AT = 4_000;

/** Whether a prompt names a change that it asks for. */
export function namesChange(prompt: string): boolean {
  const text = prompt.slice(0, LOOKED_AT);
  return ASKED.test(text) || WISHED.test(text);
}

/** Whether a prompt asks for something to be run. */
export function namesRun(prompt: string): boolean {
  return TO_RUN.test(prompt.slice(0, LOOKED_AT));
}
