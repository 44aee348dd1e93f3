import { onTestFinished } from 'vitest';
import type { StudioForTests } from './served-studio.ts';

/** The events of a stream as they come. */
export async function eventsOf(studio: StudioForTests, path: string, lastId?: string) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const answer = await studio.get(path, {
    signal: stop.signal,
    ...(lastId === undefined ? {} : { headers: { 'last-event-id': lastId } }),
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  return {
    answer,
    async next(): Promise<{ id: string; data: string }> {
      for (;;) {
        const end = buffer.indexOf('\n\n');
        if (end >= 0) {
          const lines = buffer.slice(0, end).split('\n');
          buffer = buffer.slice(end + 2);
          const valuesOf = (name: string) =>
            lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
          if (lines.some((line) => line.startsWith('data:')))
            return { id: valuesOf('id').join(), data: valuesOf('data').join('\n') };
          continue;
        }
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
        if (done) throw new Error('the stream ended');
        buffer += value;
      }
    },
  };
}

/** Where a page that follows something gets its events from. */
export function addressOfEvents(page: string): string {
  const address = /hx-sse:connect="([^"]*)"/.exec(page)?.[1] ?? '';
  return address.replaceAll('&amp;', '&');
}
