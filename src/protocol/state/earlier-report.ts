import { lazy } from '../../base/lazy.ts';

/** The texts of the answers of an activation that may become part of the result. */
export interface AnswerTexts {
  /** The text of the newest answer, after the texts of the cut answers that it continues; empty: it has no text. */
  readonly newest: string;
  /** The last texts before `newest` that are long enough to be a report, in order. */
  readonly reports: readonly string[];
  /** The length of the longest text before `newest`. */
  readonly longest: number;
}

export const NO_ANSWER_TEXTS: AnswerTexts = { newest: '', reports: [], longest: 0 };

/** A text that is shorter than this share of the longest text is assumed to be no report, but an announcement. */
const MIN_REPORT_SHARE = 1 / 4;
/** The maximum number of reports that are remembered. Several are, because the last of them may only refer to the report. */
const MAX_REPORTS = 4;
/** The maximum length of a text that only refers to an earlier text. A longer text has its own content. */
const MAX_POINTER_LENGTH = 600;
/** The minimum length of a report that a text such as "Done." after it must not replace. */
const MIN_REPORT_LENGTH = 400;

/**
 * Adds the text of a new answer. `place`: `next` for a new text; `continued` if the text includes that of the previous
 * answer, which it continues.
 */
export function addAnswerText(
  texts: AnswerTexts,
  text: string,
  place: 'next' | 'continued',
): AnswerTexts {
  const newest = text.trim() === '' ? '' : text;
  if (place === 'continued') return { ...texts, newest: newest === '' ? texts.newest : newest };
  return { ...addNewestToReports(texts), newest };
}

/** Adds the newest text to the reports if it is long enough. */
function addNewestToReports({
  newest,
  reports,
  longest,
}: AnswerTexts): Omit<AnswerTexts, 'newest'> {
  if (newest === '' || newest.length < longest * MIN_REPORT_SHARE) return { reports, longest };
  return {
    reports: [...reports, newest].slice(-MAX_REPORTS),
    longest: Math.max(longest, newest.length),
  };
}

/**
 * Returns the result of a task. Usually it is `last`, the last text. If the last text only refers to an earlier report, or
 * only says that the work is done, the report is placed before it. `prompt`: the prompt of the task; if it contains the
 * last text, the model was asked to write this text, and it is the result.
 */
export function resultText(last: string, texts: AnswerTexts, prompt: string): string {
  if (texts.reports.length === 0) return last;
  const isEmpty = last.trim() === '';
  if (!isEmpty && (prompt.includes(last.trim()) || !hasNoContent(last, texts))) return last;
  const report = texts.reports.findLast((text) => !refersToEarlierText(text)) ?? '';
  if (report === '' || report === last) return last;
  return isEmpty ? report : `${report.trimEnd()}\n\n${last}`;
}

/** Returns true if the last text only refers to an earlier text, or only says that the reported work is done. */
function hasNoContent(last: string, { longest }: AnswerTexts): boolean {
  return refersToEarlierText(last) || (longest >= MIN_REPORT_LENGTH && saysOnlyDone(last));
}

/** Returns true if a text refers the reader to an earlier message of its author. */
export function refersToEarlierText(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_POINTER_LENGTH || !POSSIBLE_POINTER.test(trimmed)) return false;
  return pointerPatterns().some((pointer) => pointer.test(trimmed));
}

function saysOnlyDone(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_POINTER_LENGTH) return false;
  const words = trimmed.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length === 0 || DONE_PHRASES.has(words.join(' '));
}

/** The texts, without punctuation, that only say that the work is done. */
const DONE_PHRASES: ReadonlySet<string> = new Set(
  [
    'done|all done|i am done|i m done|finished|complete|completed|all complete|task complete|task completed',
    'task done|the task is complete|the task is done|report complete|work complete|all tasks complete',
    'all tasks completed|ok|okay|that is all|that s all|end of report|nothing to add|nothing more to add',
    'nothing further to add|no further comments',
    'fertig|erledigt|abgeschlossen|das war s|alles erledigt|terminé|fini|c est fait|voilà|hecho|listo',
    'terminado|completado|pronto|feito|concluído|fatto|finito|completato|klaar|gedaan',
    'готово|выполнено|сделано|завершено|完成|已完成|任务完成|完毕|完了|完了しました|以上|以上です',
    '완료|완료했습니다|완료되었습니다',
  ].flatMap((line) => line.split('|')),
);

const MESSAGE = 'messages?|response|reply|answer|turn';
const REPORT =
  'report|summary|findings|results?|analysis|answer|details|review|explanation|overview|breakdown|list|write-?up|conclusions?|verdict|plan';
const EARLIER = 'previous|prior|last|earlier|preceding|foregoing';
const SAID =
  'reported|described|noted|stated|summari[sz]ed|listed|detailed|presented|delivered|written|posted|sent|outlined|mentioned|explained|provided|given|shown|returned|said|documented|covered';
const CLAUSE_END = String.raw`(?=\W*$|\s*[.;,:!)])`;

/** A quick test before `pointerPatterns`. It matches every text that these patterns match, and few others. */
const POSSIBLE_POINTER =
  /[^\0-\u024f]|previous|prior|last|earlier|preceding|foregoing|above|before|already|stand|oben|vor|letzte|früher|obig|bereits|dessus|plus haut|précédent|anterior|arriba|acima|precedente|sopra|boven/i;

/** The patterns of phrases with which models refer to their earlier messages, by language. */
const pointerPatterns = lazy(() =>
  [
    // English
    String.raw`\b(?:my|this|our) (?:own )?(?:${EARLIER}) (?:\w+ )?(?:${MESSAGE}|${REPORT}|output|comment|text)\b`,
    String.raw`\b(?:in|see|from|per) (?:the |a |an )?(?:\w+ )?(?:${EARLIER}) (?:assistant )?(?:${MESSAGE})\b`,
    String.raw`\b(?:${MESSAGE}|report|summary) (?:just )?before this(?: one)?\b`,
    String.raw`\b(?:see|refer to|read|check|consult) (?:[\w'-]+ ){0,4}(?:above|earlier|(?:${EARLIER}) (?:${MESSAGE}|${REPORT}))\b`,
    String.raw`\b(?:${REPORT}) (?:[\w'-]+ ){0,5}(?:above|earlier|previously)${CLAUSE_END}`,
    String.raw`\b(?:above|earlier|previous|prior) (?:report|summary|findings|analysis|review) (?:is|was|has|have|are|contains?|covers?|stands?|remains?|holds?)\b`,
    String.raw`\b(?:as|i|i've|i have|already) (?:already |previously )?(?:${SAID}) (?:[\w'-]+ ){0,4}(?:above|earlier|previously|before)\b`,
    String.raw`\b(?:is|are|was|were|been) (?:already )?(?:${SAID}) (?:[\w'-]+ ){0,2}above${CLAUSE_END}`,
    String.raw`\b(?:i|i've|i have|report|summary|findings|analysis|review)(?: was| were| has been| have been)? already (?:been )?(?:${SAID})\b`,
    String.raw`\b(?:report|summary|findings|analysis|review|verdict) (?:still )?stands?\b`,
    // German
    String.raw`\b(?:siehe|wie|steht|stehen) (?:[\wäöüß]+ ){0,3}oben\b`,
    String.raw`\b(?:bericht|zusammenfassung|ergebnisse?|antwort|analyse) (?:[\wäöüß]+ ){0,4}oben\b`,
    String.raw`(?:vorherige|vorige|letzte|vorangehende|vorangegangene|frühere|obige)[nrms]? (?:nachricht|antwort|bericht|zusammenfassung|meldung|ausgabe)`,
    String.raw`\b(?:bereits|zuvor|oben) (?:berichtet|beschrieben|erwähnt|genannt|dargelegt|zusammengefasst|aufgeführt|geliefert)`,
    // French
    String.raw`ci-dessus|plus haut|(?:message|réponse|rapport|résumé) précédente?`,
    // Spanish and Portuguese
    String.raw`(?:mensaje|respuesta|informe|resumen|mensagem|resposta|relatório|resumo) anterior`,
    String.raw`\b(?:ver|vea|véase|como|veja|vide|conforme|está|estão) (?:[\wáéíóúãõç]+ ){0,3}(?:arriba|acima)`,
    // Italian and Dutch
    String.raw`(?:messaggio|rapporto|resoconto|riepilogo) precedente|risposta precedente|\b(?:vedi|come) (?:[\wàèéìòù]+ ){0,2}sopra`,
    String.raw`\bzie (?:[\w]+ ){0,2}(?:hier)?boven|vorige (?:bericht|antwoord)`,
    // Russian
    String.raw`(?:предыдущ|прошл|последн)[а-яё]+ (?:сообщени|ответ|отч[её]т)|(?:см\.?|смотри(?:те)?|отч[её]т|как)\s(?:[а-яё]+\s){0,3}выше`,
    // Chinese, Japanese and Korean
    String.raw`(?:上一?[条條则則个個]|前一[条條]|之前的?|前面的?|上面的?|上述|上文的?|以上)(?:[一二三]?[条條])?(?:消息|訊息|回复|回覆|答复|报告|報告|总结|總結|回答|信息|内容|分析)|[见見](?:上|前)文|如上(?:所述|文)?|(?:报告|報告|总结|結果|结果)(?:[见見]|在)(?:上|前)`,
    String.raw`(?:前回?|前述|以前|先ほど|さきほど|上記|直前)の?(?:メッセージ|返信|回答|報告|レポート|まとめ|通り|とおり|内容)|上記を(?:参照|ご覧)`,
    String.raw`(?:이전|앞선|지난|위의?|앞서)\s?(?:메시지|답변|보고서?|응답|요약|내용|보고한|말씀드린|설명한)`,
  ].map((source) => new RegExp(source, 'i')),
);
