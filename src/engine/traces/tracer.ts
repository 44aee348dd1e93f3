import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../core/clock.ts';
import type { AnsweredRequest } from '../../ports/github.ts';
import type { SpanRef, Traces } from '../../ports/traces.ts';
import { spanIdOf } from './span-ids.ts';

/** Knows which span the code that runs now belongs to. */
export interface Tracer extends Traces {
  /**
   * Runs work within a span, or within none. Requests of the work become spans in it.
   * @returns the result, and whether there were such requests
   */
  within<T>(span: SpanRef | undefined, work: () => Promise<T>): Promise<{ result: T; hasAsked: boolean }>;
  /** Records a request to GitHub, if it was sent within a span. */
  request(request: AnsweredRequest): void;
}

export function createTracer({ traces, clock }: { traces: Traces; clock: Clock }): Tracer {
  const current = new AsyncLocalStorage<{ span: SpanRef; requests: number } | undefined>();
  return {
    record: traces.record,
    stop: traces.stop,
    async within(span, work) {
      const inside = span && { span, requests: 0 };
      const result = await current.run(inside, work);
      return { result, hasAsked: (inside?.requests ?? 0) > 0 };
    },
    request({ route, status, durationMs, revalidated, limited }) {
      const inside = current.getStore();
      if (!inside) return;
      const { span: parent } = inside;
      inside.requests += 1;
      const endedAt = clock.now();
      const startedAt = new Date(endedAt.getTime() - durationMs);
      traces.record({
        traceId: parent.traceId,
        spanId: spanIdOf('request', parent.spanId, startedAt.getTime(), inside.requests),
        parentId: parent.spanId,
        // With the names of parameters: their values may come from a pull request.
        name: route,
        kind: 'client',
        startedAt,
        endedAt,
        attributes: {
          'http.request.method': route.split(' ', 1)[0] ?? '',
          'http.response.status_code': status,
          'countersign.github.not_modified': revalidated,
          'countersign.github.limited': limited,
        },
        ...(status >= 400 || status === 0 ? { error: status === 0 ? 'no answer' : String(status) } : {}),
      });
    },
  };
}
