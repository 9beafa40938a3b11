import { shownOptions, takesFilter, type ChoiceDialog, type Dialog } from '../model/dialog.ts';
import type { TerminalSize } from '../model/app-state.ts';
import { fitLine, wrapText } from './fit.ts';
import type { Pen } from './pen.ts';

/** The lines that are no text and no option: the title, two empty lines, and the keys. */
const FIXED_LINES = 4;

/** Draws a dialog on the full screen: exactly as many lines as the terminal has. */
export function drawDialog(
  dialog: Dialog,
  { width, height }: Pick<TerminalSize, 'width' | 'height'>,
  pen: Pen,
): readonly string[] {
  const text = pen.keep(dialog.lines, `${width}`, () =>
    dialog.lines.flatMap((line) =>
      line === '' ? [''] : wrapText(pen.exact('text', line), Math.max(1, width), ''),
    ),
  );
  const room = Math.max(1, height - FIXED_LINES);
  const options = dialog.kind === 'choice' ? shownOptions(dialog) : [];
  const forText = Math.min(text.length, Math.max(room - options.length, Math.floor(room / 2)));
  const forOptions = room - forText;
  const scroll =
    dialog.kind === 'choice' ? Math.min(dialog.scroll, Math.max(0, text.length - forText)) : 0;
  const below = text.length - scroll - forText;
  const cut = below > 0 || scroll > 0 ? `pgup pgdn: ${scroll} lines above, ${below} below · ` : '';
  const lines = [
    pen.prose('strong', dialog.title),
    '',
    ...text.slice(scroll, scroll + forText),
    '',
    ...(dialog.kind === 'choice'
      ? optionLines(dialog, forOptions, pen)
      : inputLines(dialog, width, pen)),
  ];
  const padded = [...lines, ...Array<string>(Math.max(0, height - 1 - lines.length)).fill('')];
  const keys = pen.prose('dim', `${cut}${keyText(dialog)}`);
  return [...padded.slice(0, height - 1), keys].map((line) => fitLine(line, width));
}

/** Draws the options around the chosen one. */
function optionLines(dialog: ChoiceDialog, room: number, pen: Pen): readonly string[] {
  const options = shownOptions(dialog);
  const width = Math.max(0, ...options.map(({ label }) => label.length));
  const first = Math.max(0, Math.min(dialog.chosen - room + 1, options.length - room));
  return options.slice(first, first + room).map(({ label, help }, index) => {
    const isChosen = first + index === dialog.chosen;
    const sign = isChosen ? pen.paint('accent', '› ') : '  ';
    const name = pen.prose(isChosen ? 'accent' : 'text', label.padEnd(width));
    return `${sign}${name}  ${pen.prose('dim', help)}`;
  });
}

/** Draws the line that is typed. Of a secret only the length is shown. */
function inputLines(
  dialog: Exclude<Dialog, ChoiceDialog>,
  width: number,
  pen: Pen,
): readonly string[] {
  if (dialog.kind === 'busy') return [pen.prose('dim', 'one moment …')];
  if (dialog.kind === 'text') {
    const { problem } = dialog;
    const typed = wrapText(pen.exact('text', `${dialog.text}▏`), Math.max(1, width - 2), '');
    return [
      ...typed.map((line, index) => `${index === 0 ? pen.paint('accent', '› ') : '  '}${line}`),
      ...(problem === null ? [] : wrapText(pen.exact('bad', problem), Math.max(1, width), '')),
    ];
  }
  const { length } = dialog.secret;
  const typed = length === 0 ? 'type or paste it' : `${length} characters typed`;
  return [`${pen.paint('accent', '› ')}${pen.prose('text', `${typed} (not shown)`)}`];
}

function keyText(dialog: Dialog): string {
  if (dialog.kind === 'busy') return 'esc cancels';
  if (dialog.kind === 'text') return 'enter saves it · ctrl+u clears · esc goes back';
  if (dialog.kind === 'secret') {
    const back = dialog.hasList ? 'esc back to the list' : 'esc cancels';
    return `enter tests and saves it · ctrl+u clears · ${back}`;
  }
  const filter = dialog.filter === '' ? 'type to narrow' : `narrowed by “${dialog.filter}”`;
  return `↑ ↓ choose · enter takes · ${takesFilter(dialog) ? `${filter} · ` : ''}esc leaves`;
}
