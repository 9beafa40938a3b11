import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { ALL_KEYS } from '../../src/config/key-entry.ts';
import { configSchema } from '../../src/config/schema.ts';
import { schemaErrors } from '../json-schema.ts';
import { problemsIn } from './support.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/configuration.md'), 'utf8');

function takes(file: unknown): boolean {
  return schemaErrors(configSchema(), file).length === 0;
}

/** Whatever TOML has, near the bounds and the words of a key as well. */
function valuesFor({ expects, choices = [] }: { expects: string; choices?: readonly string[] }) {
  const bounds = expects.match(/\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const near = bounds.flatMap((bound) => [bound - 1, bound - 0.5, bound, bound + 0.5, bound + 1]);
  const text = fc.oneof(fc.string(), fc.constantFrom('', ' ', 'CI', 'LD_PRELOAD', ...choices));
  return fc.oneof(
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, ...near),
    text,
    fc.array(fc.oneof(text, fc.integer()), { maxLength: 3 }),
    fc.constant({}),
  );
}

describe.each(ALL_KEYS.map((entry) => [entry.key, entry] as const))(
  'the schema for %s',
  (_, { section, name, spec }) => {
    it('accepts everything that a file may contain', () => {
      // How an item is built, a start checks.
      const isExact = !Array.isArray(spec.default);
      fc.assert(
        fc.property(valuesFor(spec), (value) => {
          const isTaken = takes({ [section]: { [name]: value } });
          if (spec.accepts(value)) expect(isTaken).toBe(true);
          else if (isExact) expect(isTaken).toBe(false);
        }),
      );
    });

    it('describes each key, and gives its default if that is a value', () => {
      expect(configSchema()).toHaveProperty(['properties', section, 'properties', name], {
        ...spec.schema,
        description: spec.meaning,
        ...(spec.default === null || spec.default === '' ? {} : { default: spec.default }),
      });
    });
  },
);

describe('the schema, like the program,', () => {
  it.each([
    '[models.providers.local]\nkind = "openai-compatible"\nbase_url = "http://127.0.0.1:8080/v1"\napi_key_env = "LOCAL_KEY"\n',
    '[models.catalogue."local/qwen3"]\ncontext_window = 4096\nprice_input = 0.5\nprice_output = 2\nattachments = ["image"]\n',
    '[keys]\nquit = "ctrl+g"\nsend = ["enter", "ctrl+j"]\n',
    '',
    ...[...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, toml]) => toml ?? ''),
  ])('accepts %j', async (toml) => {
    expect(await problemsIn(toml)).toEqual([]);
    expect(schemaErrors(configSchema(), parse(toml))).toEqual([]);
  });

  it.each([
    'max_depth = 1\n',
    '[task_tools]\n',
    '[task_tool]\nmax_dept = 1\n',
    'task_tool = 1\n',
    '[models.providers."a/b"]\n',
    '[models.providers.local]\nkind = "other"\n',
    '[models.providers.local]\napi_key = "sk-1"\n',
    '[models.providers.local]\napi_key_env = "a b"\n',
    '[models.providers]\nlocal = 1\n',
    '[models.catalogue.local]\noutput_limit = 1000\n',
    '[models.catalogue."local/qwen3"]\noutput_limit = 1.5\n',
    '[models.catalogue."local/qwen3"]\noutput_limit = 1\n',
    '[models.catalogue."local/qwen3"]\nprice_input = 1\n',
    '[models.catalogue."local/qwen3"]\nprice_cache_read = 1\n',
    '[models.catalogue."local/qwen3"]\nattachments = ["film"]\n',
    '[keys]\nquit = 1\n',
    '[keys]\nquit = ["a", 1]\n',
  ])('refuses %j', async (toml) => {
    expect(await problemsIn(toml)).not.toEqual([]);
    expect(takes(parse(toml))).toBe(false);
  });
});
