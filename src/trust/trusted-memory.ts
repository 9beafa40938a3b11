import { dirname } from 'node:path';
import { readProjectFile, TRUST_ALL, type ProjectTrust } from '../sys/files/project-file.ts';
import { hashContent } from '../sys/files/read-file.ts';
import { DIRECTORY_BYTES } from '../tools/memory/memory-limits.ts';

/** Whether the notes of an agent, by the path of their index in a project, may enter its prompt. */
export function isTrustedMemory(path: string, trust: ProjectTrust): boolean {
  const file = { kind: 'memory', path } as const;
  const hash = (): string => {
    const place = { ...file, boundary: dirname(path), maxBytes: DIRECTORY_BYTES };
    const reading = readProjectFile(place, TRUST_ALL);
    return hashContent(reading.kind === 'read' ? reading.bytes : '');
  };
  return trust.judge(file, hash).state === 'trusted';
}
