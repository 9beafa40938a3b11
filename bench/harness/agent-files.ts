import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BODY = `You review what was changed.\n\n${'- Read the code around a line before you judge it.\n'.repeat(60)}`;

/** Front matter as people write it. One of 25 files is not valid YAML. */
const KINDS: readonly ((name: string) => string)[] = [
  (name) => `name: ${name}\ndescription: Reviews a change and says what is wrong.\nmodel: sonnet`,
  (name) =>
    `name: ${name}\ndescription: "Use this agent when code was changed.\\n\\n<example>\\nuser: \\"Is it right?\\"\\nassistant: \\"I'll ask the reviewer.\\"\\n</example>"\ntools: Read, Grep, Glob, Bash\nmodel: inherit\ncolor: blue`,
  (name) =>
    `name: ${name}\ndescription: >-\n  Looks for what is slow,\n  measures it and says why.\ntools:\n  - Read\n  - Grep\n  - Bash\nmaxTurns: 12`,
  (name) =>
    `name: ${name}\ndescription: Writes tests; use it after a change.\ntools: [Read, Write, Edit]\nskills: [testing]\nhooks:\n  Stop:\n    - matcher: ''\n      hooks: []`,
  (name) =>
    `name: ${name}\ndescription: Finds things in large code, fast\ntools: Read, Grep, Glob, LS`,
];
const BROKEN = (name: string): string =>
  `name: ${name}\ndescription: Use when: something: breaks\ntools: Read, Grep`;

/** Writes `count` agent files into `directory`. */
export function writeAgentFiles(directory: string, count: number): void {
  mkdirSync(directory, { recursive: true });
  for (let index = 0; index < count; index += 1) {
    const name = `agent-${String(index).padStart(5, '0')}`;
    const kind = index % 25 === 24 ? BROKEN : KINDS[index % KINDS.length];
    const text = `---\n${kind?.(name)}\n---\n\n${BODY}`;
    writeFileSync(join(directory, `${name}.md`), text);
  }
}
