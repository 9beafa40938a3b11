import { lazy } from '../../base/lazy.ts';

/** The texts of an activation that its result may need, besides its last one. */
export interface AnswerTexts {
  /** The text of the newest answer, with that of the cut answers that it continues; empty if it had none. */
  readonly newest: string;
  /** The newest texts before it that are long enough to be a report, in their order. */
  readonly reports: readonly string[];
  /** The length of the longest text before it. */
  readonly longest: number;
}

export const NO_ANSWER_TEXTS: AnswerTexts = { newest: '', reports: [], longest: 0 };

/** A text of less than this part of the longest one says what the model does next, and reports nothing. */
const REPORT_SHARE = 1 / 4;
/** Texts that are kept: the newest ones may only point to the report themselves. */
const MAX_REPORTS = 4;
/** Characters of a text that may only point to another one. A longer one has a content of its own. */
const MAX_POINTER_LENGTH = 600;
/** Characters of a report that a mere "Done." after it must not replace. */
const MIN_REPORT_LENGTH = 400;

/**
 * Adds the text of a new answer.
 *
 * @param place `next`: the answer stands alone. `continued`: the text includes that of the answer that it continues.
 */
export function addAnswerText(
  texts: AnswerTexts,
  text: string,
  place: 'next' | 'continued',
): AnswerTexts {
  const newest = text.trim() === '' ? '' : text;
  if (place === 'continued') return { ...texts, newest: newest === '' ? texts.newest : newest };
  return { ...withReport(texts), newest };
}

/** The newest text becomes an earlier one. */
function withReport({ newest, reports, longest }: AnswerTexts): Omit<AnswerTexts, 'newest'> {
  if (newest === '' || newest.length < longest * REPORT_SHARE) return { reports, longest };
  return {
    reports: [...reports, newest].slice(-MAX_REPORTS),
    longest: Math.max(longest, newest.length),
  };
}

/**
 * Returns the result of a task whose last text is `last`: that text, with the earlier report before it if it only
 * points to the report, or says nothing but that the work is done.
 *
 * @param prompt if it asks for exactly the last text, that text is the result
 */
export function resultText(last: string, texts: AnswerTexts, prompt: string): string {
  if (texts.reports.length === 0) return last;
  const isEmpty = last.trim() === '';
  if (!isEmpty && (prompt.includes(last.trim()) || !saysNothing(last, texts))) return last;
  const report = texts.reports.findLast((text) => !refersToEarlierText(text)) ?? '';
  if (report === '' || report === last) return last;
  return isEmpty ? report : `${report.trimEnd()}\n\n${last}`;
}

/** Tells whether the last text only points to an earlier one, or only says that the reported work is done. */
function saysNothing(last: string, { longest }: AnswerTexts): boolean {
  return refersToEarlierText(last) || (longest >= MIN_REPORT_LENGTH && saysOnlyDone(last));
}

/** Tells whether a text refers the reader to an earlier message of its author. */
export function refersToEarlierText(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_POINTER_LENGTH || !MAY_POINT.test(trimmed)) return false;
  return pointers().some((pointer) => pointer.test(trimmed));
}

function saysOnlyDone(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_POINTER_LENGTH) return false;
  const words = trimmed.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length === 0 || DONE.has(words.join(' '));
}

/** Texts that say that the work is done and nothing else, without their punctuation. */
const DONE: ReadonlySet<string> = new Set(
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

/** A quick test that every match of a pointer below passes, and most other texts do not. */
const MAY_POINT =
  /[^\0-\u024f]|previous|prior|last|earlier|preceding|foregoing|above|before|already|stand|oben|vor|letzte|früher|obig|bereits|dessus|plus haut|précédent|anterior|arriba|acima|precedente|sopra|boven/i;

/** Phrases by which models refer to their earlier messages, by language. */
const pointers = lazy(() =>
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
