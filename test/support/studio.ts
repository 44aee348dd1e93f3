import { onTestFinished } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import type { Viewer } from '../../src/entrypoints/studio/viewer.ts';
import type { Harness } from './harness.ts';
import { type StudioOptions, studioOn } from './studio-on.ts';

/** Studio on the database of a harness, for somebody who is signed in already. */
export async function studioFor(harness: Pick<Harness, 'config' | 'clock'>, options: StudioOptions = {}) {
  const storage = await openStorage(harness.config.databaseUrl, { clock: harness.clock });
  onTestFinished(() => storage.close());
  return studioOn(storage, harness, options);
}

/** A person who signed in. */
export function person(id: number, login: string): Viewer {
  return { kind: 'person', id, login, isOperator: false, csrf: 'csrf' };
}

/** What a page shows, without its markup and the frame around it. */
export function textOf(html: string): string {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? html;
  return main
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
