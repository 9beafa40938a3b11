import { byteLength, oneLine } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './findings.ts';

/** A description in Latin letters with fewer words says too little. */
const MIN_WORDS = 4;
/** The fewest characters, for scripts without spaces between words. */
const MIN_CHARACTERS = 8;
/** The most bytes of a description. The main agent sees far less than that. */
const MAX_BYTES = 2048;

/** Words about when to use an agent, and verbs for what agents do: every useful description has one of them. */
const TELLS_USE =
  /\b(?:use[ds]?|using|when(?:ever)?|if|for|to|after|before|that|who|which|with|must|should|can|will)\b/i;
const VERB =
  /\b(?:analy[sz]|answer|audit|build|check|condens|convert|coordinat|creat|debug|deploy|design|detect|develop|document|edit|evaluat|execut|explain|explor|extract|find|fix|format|generat|guid|handl|help|implement|improv|investigat|maintain|manag|migrat|monitor|optimi[sz]|orchestrat|organi[sz]|plan|prepar|read|refactor|report|research|review|run|scan|search|stud|summari[sz]|test|track|translat|updat|validat|verif|watch|writ)(?:e|es|s|ed|ing|y|ies|t|ts)?\b/i;

const FIX =
  'Say what it does and when to use it, for example: Reviews database migrations. Use after a change to the schema.';

/** Reports a description that is of no use when the main agent chooses an agent. */
export function lintDescription(agent: AgentDefinition, { text }: LintContext): readonly Lint[] {
  const description = oneLine(agent.description);
  const line = fieldLine(text, ['description']);
  if (description === '') {
    const message = 'There is no description: the main agent cannot know when to use it.';
    return [{ code: 'missing-description', severity: 'warning', message, fix: FIX, line }];
  }
  const vague = whyVague(description, agent.name);
  if (vague !== null) {
    const message = `The description is too vague: ${vague}.`;
    return [{ code: 'vague-description', severity: 'warning', message, fix: FIX, line }];
  }
  const bytes = byteLength(agent.description);
  if (bytes <= MAX_BYTES) return [];
  const message = `The description is ${bytes} bytes long; the main agent sees only its beginning.`;
  const fix =
    'Put the most important points into the first two sentences, and the rest into the prompt.';
  return [{ code: 'long-description', severity: 'note', message, fix, line }];
}

function whyVague(description: string, name: string): string | null {
  if (letters(description) === letters(name)) return 'it only repeats the name';
  const isLatin = /^[\u0020-\u024f]*$/.test(description);
  if (!isLatin) return description.length < MIN_CHARACTERS ? 'it is very short' : null;
  if (description.split(' ').length < MIN_WORDS) return 'it is very short';
  // The words above are English; other languages use Latin letters, too.
  const isEnglish = /^[\u0020-\u007e\u2010-\u2026]*$/.test(description);
  const isUseful = TELLS_USE.test(description) || VERB.test(description);
  return isEnglish && !isUseful ? 'it says neither what it does nor when to use it' : null;
}

function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
