import { LRUCache } from 'lru-cache';
import type { Run } from '../../domain/run/run.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { SpanRef } from '../../ports/traces.ts';
import { spanIdOf, traceIdOf } from './span-ids.ts';

/** A span, and the one that it is in. */
export interface Place {
  ref: SpanRef;
  parentId: string | undefined;
}

type Reads = { deliveries: Pick<ReadTx['deliveries'], 'get'>; runs: Pick<ReadTx['runs'], 'get'> };

/** Where deliveries and runs are in traces. */
export interface Places {
  ofDelivery(delivery: { id: number; guid: string }): Place;
  ofRun(read: Reads, run: Pick<Run, 'id' | 'deliveryId' | 'facts'>): Promise<Place>;
  /** `undefined` if there is no such run. */
  ofRunWithId(read: Reads, runId: string): Promise<Place | undefined>;
}

/** So many are remembered, of those that were asked for last. */
const MOST = 5_000;

/**
 * A run is in the trace of the delivery that began it, and otherwise in one of its own. A run that is a step of another one is in
 * that run. Remembers what it has read: rows do not change their delivery.
 */
export function createPlaces(): Places {
  const guids = new LRUCache<number, string>({ max: MOST });
  const runs = new LRUCache<string, Place>({ max: MOST });

  async function guidOf(read: Reads, id: number): Promise<string | undefined> {
    const known = guids.get(id) ?? (await read.deliveries.get(id))?.guid;
    if (known !== undefined) guids.set(id, known);
    return known;
  }

  async function ofRun(read: Reads, run: Pick<Run, 'id' | 'deliveryId' | 'facts'>): Promise<Place> {
    const known = runs.get(run.id);
    if (known) return known;
    const guid = run.deliveryId === null ? undefined : await guidOf(read, run.deliveryId);
    const { parent } = run.facts;
    const top = parent?.above.at(-1) ?? parent?.run ?? run.id;
    const place = {
      ref: {
        traceId: guid === undefined ? traceIdOf('run', top) : traceIdOf('delivery', guid),
        spanId: spanIdOf('run', run.id),
      },
      parentId: parent ? spanIdOf('run', parent.run) : guid && spanIdOf('delivery', guid),
    };
    runs.set(run.id, place);
    return place;
  }

  return {
    ofDelivery({ id, guid }) {
      guids.set(id, guid);
      return {
        ref: { traceId: traceIdOf('delivery', guid), spanId: spanIdOf('delivery', guid) },
        parentId: undefined,
      };
    },
    ofRun,
    async ofRunWithId(read, runId) {
      const known = runs.get(runId);
      if (known) return known;
      const run = await read.runs.get(runId);
      return run && ofRun(read, run);
    },
  };
}
