/**
 * A lint rule: a doc comment does not start with a word that makes the reader look for its subject, such as "What" or
 * "Whose". Its first sentence says what the export is or does, with a verb or a noun phrase at the start.
 */

interface Comment {
  readonly type: string;
  readonly value: string;
  readonly range: readonly [number, number];
}

interface Context {
  readonly sourceCode: { getAllComments(): readonly Comment[] };
  report(problem: { readonly message: string; readonly node: Comment }): void;
}

const FIRST_WORDS = /^(?:What|Of|Where|Whose|Whom|Those|Null)\b/;
/** Words that stand for a sentence without a verb, wherever they are. */
const LABELS = /^(?:Null|Absent):/;

/** Splits the text of a doc comment into its sentences. */
function sentences(value: string): readonly string[] {
  const text = value.replaceAll(/^\s*\* ?/gm, '').trim();
  return text.split(/(?<=[.!?])\s+(?=[A-Z])/);
}

const docComments = {
  create: (context: Context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        if (comment.type !== 'Block' || !comment.value.startsWith('*')) continue;
        const wrong = sentences(comment.value.slice(1)).find(
          (each, index) => LABELS.test(each) || (index === 0 && FIRST_WORDS.test(each)),
        );
        if (wrong === undefined) continue;
        const start = wrong.slice(0, 40).replaceAll('\n', ' ');
        context.report({
          message: `Start this sentence with a verb or a noun phrase: "${start}…"`,
          node: comment,
        });
      }
    },
  }),
};

export default { meta: { name: 'muster' }, rules: { 'doc-comments': docComments } };
