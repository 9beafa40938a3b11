import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { agentFileName } from '../../src/agents/file-name.ts';

it.each([
  ['Explore', 'explore.md'],
  ['Rust Expert (new)', 'rust-expert-new.md'],
  ['plugin:sub:name', 'plugin-sub-name.md'],
  ['../../etc/passwd', 'etc-passwd.md'],
  ['..', 'agent.md'],
  ['v1.2.', 'v1.2.md'],
  ['Prüfer', 'prüfer.md'],
  ['审查', '审查.md'],
  ['🚀', 'agent.md'],
])('%s is written to %s', (name, file) => {
  expect(agentFileName(name)).toBe(file);
});

it('is one name that every file system takes, whatever the agent is called', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
      const file = agentFileName(name);
      expect(file).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.md$/u);
      expect(Buffer.byteLength(file)).toBeLessThan(256);
    }),
  );
});
