import { byteLength, oneLine } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './finding.ts';

/** Words below which a description in Latin letters says too little. */
const FEWEST_WORDS = 4;
/** Characters, for scripts that write no blanks. */
const FEWEST_CHARACTERS = 8;
/** Bytes; what the main agent is shown is far shorter. */
const LONGEST = 2048;

/** Words that tell when, and verbs of what agents do: one of them stands in whatever one can choose by. */
const TELLS_USE =
  /\b(?:use[ds]?|using|when(?:ever)?|if|for|to|after|before|that|who|which|with|must|should|can|will)\b/i;
const VERB =
  /\b(?:analy[sz]|answer|audit|build|check|condens|convert|coordinat|creat|debug|deploy|design|detect|develop|document|edit|evaluat|execut|explain|explor|extract|find|fix|format|generat|guid|handl|help|implement|improv|investigat|maintain|manag|migrat|monitor|optimi[sz]|orchestrat|organi[sz]|plan|prepar|read|refactor|report|research|review|run|scan|search|stud|summari[sz]|test|track|translat|updat|validat|verif|watch|writ)(?:e|es|s|ed|ing|y|ies|t|ts)?\b/i;

const FIX =
  'Say what it does and when to use it, as in: Reviews database migrations. Use after a change to the schema.';

/** Whether the main agent can choose by the description. */
export function lintDescription(agent: AgentDefinition, { text }: LintContext): readonly Lint[] {
  const description = oneLine(agent.description);
  const line = fieldLine(text, ['description']);
  if (description === '') {
    const message = 'There is no description: nothing tells the main agent when to use it.';
    return [{ code: 'missing-description', severity: 'warning', message, fix: FIX, line }];
  }
  const vague = whyVague(description, agent.name);
  if (vague !== null) {
    const message = `The description is too vague to choose by: ${vague}.`;
    return [{ code: 'vague-description', severity: 'warning', message, fix: FIX, line }];
  }
  const bytes = byteLength(agent.description);
  if (bytes <= LONGEST) return [];
  const message = `The description is ${bytes} bytes long; the main agent is shown its beginning.`;
  const fix = 'Put what decides into the first two sentences, and the rest into the prompt.';
  return [{ code: 'long-description', severity: 'note', message, fix, line }];
}

function whyVague(description: string, name: string): string | null {
  if (letters(description) === letters(name)) return 'it is the name again';
  const isLatin = /^[\u0020-\u024f]*$/.test(description);
  if (!isLatin) return description.length < FEWEST_CHARACTERS ? 'it is very short' : null;
  if (description.split(' ').length < FEWEST_WORDS) return 'it is very short';
  // Other languages in Latin letters have words of their own for it.
  const isEnglish = /^[\u0020-\u007e\u2010-\u2026]*$/.test(description);
  const tells = TELLS_USE.test(description) || VERB.test(description);
  return isEnglish && !tells ? 'it says neither what it does nor when to use it' : null;
}

function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
