import { EXPORT_GLOBAL, type ExportedRun } from '../../wire.ts';
import { makeVisible } from '../model/make-visible.ts';
import { PageError, type PageDataSource } from './page-source.ts';

const NOT_EXPORTED = 'this is not part of the exported run';

/** The data of an exported run, which only shows; null if the page is not an exported one. */
export function createExportedSource(): PageDataSource | null {
  const data: unknown = Reflect.get(globalThis, EXPORT_GLOBAL);
  if (typeof data !== 'object' || data === null) return null;
  // The global is frozen, and a copy can be made visible. The exporter has the same version as the page.
  const run = makeVisible(structuredClone(data) as ExportedRun);
  const refuse = (): Promise<never> => Promise.reject(new PageError(NOT_EXPORTED, null));
  const find = <T>(from: Readonly<Record<string, T>>, id: string): Promise<T> =>
    Object.hasOwn(from, id) && from[id] !== undefined ? Promise.resolve(from[id]) : refuse();
  return {
    actions: null,
    exportedAt: run.exportedAt,
    overview: () => Promise.resolve(run.overview),
    followChanges: () => () => {},
    followLog(id, receiver) {
      const timer = setTimeout(() => {
        if (!Object.hasOwn(run.events, id)) receiver.reset(NOT_EXPORTED);
        else {
          receiver.events(run.events[id] ?? []);
          receiver.live();
        }
      });
      return () => {
        clearTimeout(timer);
      };
    },
    readText: refuse,
    report: (id) => find(run.reports, id),
    diff: (id) => find(run.diffs, id),
    timeline: () => Promise.resolve(run.timeline),
    usage: () => Promise.resolve(run.usage),
    search: () => Promise.resolve({ hits: [], note: null }),
    compare: refuse,
  };
}
