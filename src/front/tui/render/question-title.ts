import type { Question } from '../../../protocol/question.ts';
import { visibleWidth } from '../pi/text-width.ts';
import type { Asked } from '../view/confirmation.ts';
import { fit } from './fit.ts';

/** Where there is no room for the whole chain, who asks for what goes before those above it, and what before who. */
export function questionTitle(question: Asked, room: number): string {
  if (question.kind === 'confirm') return `? ${question.title}`;
  const { chain } = question;
  const who = chain.at(-1) ?? '';
  const what = question.kind === 'permission' ? `: ${question.tool}` : ` ${wishOf(question)}`;
  const titles = [`? ${chain.join(' > ')} ${wishOf(question)}`, `? ${who} ${wishOf(question)}`];
  const fitting = titles.find((title) => visibleWidth(title) <= room);
  return fitting ?? `? ${fit(who, Math.max(LEAST_WHO, room - visibleWidth(what) - 2))}${what}`;
}

const LEAST_WHO = 6;

/** What whoever asks would do, after its name. */
export function wishOf(question: Question): string {
  switch (question.kind) {
    case 'input':
      return 'asks';
    case 'plan':
      return 'asks to carry out this plan';
    case 'permission':
      return `asks to run ${question.tool}`;
    default:
      return question satisfies never;
  }
}
